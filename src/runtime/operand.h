// Which memory an instruction works on; just enough of x86-64 for survey.cc.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

/// An instruction's bytes, and the registers as instructions count them (rax rcx rdx rbx rsp rbp rsi rdi r8…).
struct Machine {
  u8 code[16];
  u64 general[16];
  u64 rip, fs;
};

/// The address of its operand in memory; false: it has none, or none that we understand.
bool memory_operand(const Machine& m, u64& address);
/// Length of a string instruction with a repeat prefix, inside which there is no place to stop; 0: it is none.
u32 repeated_length(const u8* code);
bool is_pushf(const u8* code);

}  // namespace pastcone::runtime
