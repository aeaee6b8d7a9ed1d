// The dynamic loader of a process, as it shows itself to debuggers: it keeps a list of what is loaded (<link.h>), and calls
// an empty function whenever that changes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "pastcone/base/bytes.h"

namespace pastcone::debug {

class Loader {
 public:
  using Read = std::function<bool(uint64_t address, void* to, size_t size)>;

  /// `base`: where it lies, as the process's auxiliary vector says. None: it is none, or is not there yet.
  static std::optional<Loader> find(uint64_t base, const Read& read);

  /// The function that it calls.
  uint64_t notice() const { return notice_; }
  /// What is loaded, and where; empty: nothing yet, or the list is just being changed.
  std::string libraries(const Read& read) const;

 private:
  Loader(uint64_t notice, uint64_t list) : notice_(notice), list_(list) {}

  uint64_t notice_, list_;  ///< _dl_debug_state, _r_debug
};

}  // namespace pastcone::debug
