// For ShiViz (https://bestchai.bitbucket.io/shiviz), which draws logs with vector clocks. Two lines an event,
// which its usual regular expression reads:
//
//   (?<event>.*)\n(?<host>\S*) (?<clock>{.*})
//
// A host is a thread; its clock counts its events, and has of each other thread the last event that came
// before.
#pragma once

#include "pastcone/exports/labels.h"
#include "pastcone/exports/out.h"

namespace pastcone::exports {

/// More events than ShiViz could take are refused.
Status write_shiviz(const Subject& subject, Out& out);

}  // namespace pastcone::exports
