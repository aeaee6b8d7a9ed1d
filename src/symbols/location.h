// A place in a program, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pastcone/base/files.h"

namespace pastcone::symbols {

struct Location {
  std::string function;  ///< empty: not known
  std::string file;      ///< of the source, where the compiler found it; empty: there is no debug information
  uint32_t line = 0;
  Path module;          ///< program or library
  uint64_t offset = 0;  ///< from where the function begins; if that is not known, in the module

  bool linked_in = false;  ///< the C library's, as it seems, though it is in the program's file

  bool known() const { return !function.empty() || !file.empty(); }
  /// In libc or the dynamic linker: not where the user looks.
  bool in_c_library() const;
  /// The same, or in the library of a language; or in a header of the system that was compiled in.
  bool in_system() const;

  bool operator==(const Location&) const = default;
};

/// "at server.c:80 in handle_request", "in handle_request of libserver.so"; empty if nothing is known.
std::string to_string(const Location& location);
/// "server.c:80 in handle_request", "handle_request+0x1f in libserver.so", "libserver.so+0x2345": something
/// always, if the module is known.
std::string place_text(const Location& location);

/// Of the calls that led somewhere, innermost first, the one to show: the first whose source is known,
/// outside libc and, if there is one, outside the system. Else the first outside the system, or outside libc,
/// else the first of which anything is known. None: an empty place.
Location choose(const std::vector<Location>& calls);

}  // namespace pastcone::symbols
