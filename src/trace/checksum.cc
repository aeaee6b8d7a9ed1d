#include "pastcone/trace/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pastcone {

uint64_t xxh64(ByteView bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

}  // namespace pastcone
