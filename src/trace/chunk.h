// What makes a chunk header believable, in the pack and in `live`.
#pragma once

#include "pastcone/trace/format.h"

namespace pastcone {

inline bool valid_chunk(const format::ChunkHeader& header) {
  return header.magic == format::kChunkMagic && header.version == format::kVersion &&
         header.stream <= static_cast<uint8_t>(format::Stream::kLocks) && header.process != 0 &&
         header.thread != 0 && header.used <= format::kChunkRoom;
}

}  // namespace pastcone
