// For graphviz: a cluster per process, events of a thread below each other, and all edges; hand-overs are
// dotted.
#pragma once

#include "pastcone/exports/labels.h"
#include "pastcone/exports/out.h"

namespace pastcone::exports {

/// `linked`: only events that an edge leaves from or leads to. More events than a picture can have are
/// refused.
Status write_dot(const Subject& subject, bool linked, Out& out);

}  // namespace pastcone::exports
