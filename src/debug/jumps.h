// Where threads leave functions for others without returning: longjmp, and exceptions that are caught or
// cleaned up after. Both come by a function that is told where it will go on.
#pragma once

#include <sys/user.h>

#include <map>
#include <optional>

#include "pastcone/gdb/agent.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

enum class JumpKind : uint8_t { kLong, kException };

/// Where these functions begin, of those that the process has.
Result<std::map<uint64_t, JumpKind>> find_jumps(gdb::Gdb& gdb);

/// Of a thread at one of them: where it will go on.
std::optional<uint64_t> target_of(JumpKind kind, const user_regs_struct& registers,
                                  const gdb::ReadMemory& read);

}  // namespace pastcone::debug
