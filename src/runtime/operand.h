// Which memory an instruction works on; just enough of x86-64 for the survey in async.cc.
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
/// A string instruction with a repeat prefix: stops inside it are nowhere in particular.
bool is_repeated(const u8* code);
bool is_pushf(const u8* code);

}  // namespace pastcone::runtime
