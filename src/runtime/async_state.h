// What a thread keeps about its next asynchronous point; see async.h.
#pragma once

#include "pastcone/trace/format.h"
#include "sys.h"

namespace pastcone::runtime {

struct AsyncState {
  bool armed, stepping;
  u32 misses;
  u8 original;               ///< the byte under the breakpoint
  format::AsyncPoint point;
};

}  // namespace pastcone::runtime
