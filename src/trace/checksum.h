// xxh64, the checksum of everything in a recording.
#pragma once

#include <cstdint>

#include "pastcone/base/bytes.h"

namespace pastcone {

uint64_t xxh64(ByteView bytes, uint64_t seed = 0);

}  // namespace pastcone
