// How a function gets its arguments.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <string>

#include "pastcone/gdb/formula.h"

namespace pastcone::debug {

/// In registers, all of them. `vectors`: xmm0 and on, 16 bytes each, which nothing is done to if no argument
/// is a floating-point number. `put` gives a literal an address.
Status place_arguments(const gdb::FunctionCall& call, user_regs_struct& general, uint8_t* vectors,
                       const std::function<Result<uint64_t>(const std::string&)>& put);

}  // namespace pastcone::debug
