// A place in a program, for people.
#pragma once

#include <cstdint>
#include <string>

#include "pastcone/base/files.h"

namespace pastcone::symbols {

struct Location {
  std::string function;  ///< empty: not known
  std::string file;      ///< of the source, as the compiler saw it; empty: there is no debug information
  uint32_t line = 0;
  Path module;  ///< program or library

  bool known() const { return !function.empty() || !file.empty(); }
  /// In libc or the dynamic linker: not where the user looks.
  bool in_c_library() const;
};

/// "at server.c:80 in handle_request", "in handle_request of libserver.so"; empty if nothing is known.
std::string to_string(const Location& location);

}  // namespace pastcone::symbols
