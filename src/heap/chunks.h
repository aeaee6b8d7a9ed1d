// The memory of an arena; all under its lock.
#pragma once

#include "pool.h"

namespace pastcone::heap {

/// One range if there is one that is large enough; else what there is, up to a batch.
Blocks take_memory(Pool& pool, unsigned arena, unsigned c);
void* take_aligned_memory(Pool& pool, unsigned arena, unsigned c, size_t alignment);
void give_chunk(Pool& pool, unsigned arena, char* p, uint32_t units);
/// Long chunks that were left alone while much was freed are given back to the system.
void look_at_chunks(Pool& pool, unsigned arena);

}  // namespace pastcone::heap
