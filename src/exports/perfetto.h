// For https://ui.perfetto.dev, in the JSON trace event format: a track per thread, a slice per event, an
// arrow (flow) per message that arrived. Times are those of times.h.
#pragma once

#include "pastcone/exports/labels.h"
#include "pastcone/exports/out.h"

namespace pastcone::exports {

Status write_perfetto(const Subject& subject, Out& out);

}  // namespace pastcone::exports
