// What threads sleep in whose recording ends there: the call, what it is about, and who could wake them.
#pragma once

#include "pastcone/debug/engine.h"
#include "pastcone/debug/waits.h"

namespace pastcone::debug {

/// All threads that stand where their recording was cut off.
Sleeps sleepers(Engine& engine);

}  // namespace pastcone::debug
