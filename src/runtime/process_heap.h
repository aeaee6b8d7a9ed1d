// The program's heap in parallel mode: src/heap in the place of libc's malloc, in a range of addresses that is the same in every
// process. The order in which threads take its locks is part of the recording, so replay has the same addresses.
//
// What pthread_create allocates has a heap of its own, whose order is nobody's business: who frees it, a detached thread or the
// one that detaches it, depends on which of them glibc finds first, and the program never sees it.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

inline constexpr u64 kHeapBase = 0x280000000000, kHeapSize = u64{1} << 40;
inline constexpr u64 kThreadsHeapBase = 0x298000000000, kThreadsHeapSize = u64{1} << 32;

/// At the start of a program; false if there is no memory.
bool begin_heap(Thread& t);
void begin_thread_heap(Thread& t);
/// What the thread kept goes to the others.
void end_thread_heap(Thread& t);

/// Around a fork, in the parent: the child's copy is whole, and in replay what it was.
void hold_heap();
void release_heap();
/// In the child: what other threads of the parent kept is lost.
void inherit_heap(Thread& t);
/// The child is a process that has its parent's memory. After vfork it has its parent's heap too, while that one sleeps, and
/// even what it does with locks is written down as its parent's; but it is the child that waits, and that passes points.
void share_heap(Thread& child, Thread& parent);

inline heap::ThreadHeap& current_heap() {
  heap::ThreadHeap* heap;
  asm("mov %%gs:%c1, %0" : "=r"(heap) : "i"(offsetof(Thread, heap)));
  return *heap;
}

inline bool is_of_threads(const void* p) { return (u64)p - kThreadsHeapBase < kThreadsHeapSize; }
void* threads_calloc(size_t count, size_t size);
void* threads_realloc(void* p, size_t size);
void threads_free(void* p);

struct HeapUse {
  u64 mapped, used;  ///< bytes
};
HeapUse heap_use();

}  // namespace pastcone::runtime
