// Registers by the numbers that gdb gives them in agent expressions.
#pragma once

#include <sys/user.h>

#include <cstdint>

namespace pastcone::debug {

constexpr int kFramePointer = 6, kStackPointer = 7, kThreadPointer = 58;

/// 0 for those that no expression over integers and pointers can name.
inline uint64_t register_of(const user_regs_struct& all, int number) {
  switch (number) {
    case 0: return all.rax;
    case 1: return all.rbx;
    case 2: return all.rcx;
    case 3: return all.rdx;
    case 4: return all.rsi;
    case 5: return all.rdi;
    case 6: return all.rbp;
    case 7: return all.rsp;
    case 8: return all.r8;
    case 9: return all.r9;
    case 10: return all.r10;
    case 11: return all.r11;
    case 12: return all.r12;
    case 13: return all.r13;
    case 14: return all.r14;
    case 15: return all.r15;
    case 16: return all.rip;
    case 17: return all.eflags;
    case 58: return all.fs_base;
    case 59: return all.gs_base;
    default: return 0;
  }
}

}  // namespace pastcone::debug
