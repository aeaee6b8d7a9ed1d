// Elements and sizes of C++ containers without a call: as libstdc++ keeps them.
//
//   v[3]        (v)._M_impl._M_start[3]          std::vector, std::string
//   v.size()    what it is computed from         std::vector, std::string
#pragma once

#include <functional>
#include <string>

namespace pastcone::gdb {

/// `compiles` says whether gdb compiles something. What is not such a container stays as it is.
std::string with_members(const std::string& expression,
                         const std::function<bool(const std::string& expression)>& compiles);

}  // namespace pastcone::gdb
