// What a program finds when it starts: its stack with arguments, environment and auxiliary vector. From the kernel's, which was
// made for the runtime, in record; from the log in replay.
#pragma once

#include <elf.h>

#include "boot.h"
#include "loader.h"
#include "pastcone/trace/format.h"

namespace pastcone::runtime {

/// What the kernel gave the runtime.
struct KernelStack {
  u64 argc;
  char** argv;
  char** envp;
  Elf64_auxv_t* auxv;

  u64 aux(u64 type) const {
    for (auto* a = auxv; a->a_type != AT_NULL; ++a)
      if (a->a_type == type) return a->a_un.a_val;
    return 0;
  }
};

/// Everything the program finds on its stack: from the kernel's (record) or the recording (replay).
struct Start {
  format::ExecInfo info;
  const char* strings;  ///< path, name, cwd, arguments, environment
  const u64* auxv;
  bool executable_stack = false;  ///< as the program's headers want it
};

inline const char* after(const char* s) { return s + strlen(s) + 1; }

/// Record: what the kernel gave the runtime, turned into what it would have given the program. In far memory, as the stack is
/// about to be overwritten.
Start describe_start(const KernelStack& kernel, const Target& target, const Image& program, const Image& interpreter,
                     u32 program_file, u32 interpreter_file);
/// As an event; the first of a process also has the descriptors it was given.
void write_exec(Log& log, const Start& start, bool first);
Start read_exec(Thread& t);

/// Lays out the initial stack, in the kernel's order, and returns the stack pointer.
u64 build_stack(const Start& start);

}  // namespace pastcone::runtime
