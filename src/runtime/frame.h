// The program's registers while the runtime has the thread: what entry.S saves, in its order, and loads again.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

struct Frame {
  u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
  u64 number;   ///< system call number, as rax was on entry
  u64 full;     ///< on leaving: restore rcx and r11 as well (else they are as after a system call)
  u64 rip, flags, rsp;
};
static_assert(sizeof(Frame) == 20 * 8);

}  // namespace pastcone::runtime
