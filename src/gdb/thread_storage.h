// Where a thread's own variables are (`__thread`, errno), found as libthread_db would: gdb has no other way
// to them when it does not own the process. For programs of glibc.
#pragma once

#include <cstdint>
#include <optional>

#include "pastcone/base/result.h"
#include "pastcone/gdb/target.h"

namespace pastcone::gdb {

/// The symbol by which libc says where in the loader's link_map a module's number is: it differs from version
/// to version.
constexpr const char* kModuleIdField = "_thread_db_link_map_l_tls_modid";

/// The block of thread-local variables that a module (its link_map's address, 0: the program itself, linked
/// statically) has in a thread; none: not yet. `field` is the address of kModuleIdField.
Result<std::optional<uint64_t>> thread_block(Target& target, pid_t thread, uint64_t module, std::optional<uint64_t> field);

}  // namespace pastcone::gdb
