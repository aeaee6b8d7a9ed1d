// Files that nobody may be changing while recorded programs read them by reference: the kernel's read leases.
// Whoever opens such a file for writing, or truncates it, waits in the kernel until the lease is given back,
// and that is the moment to make a copy. Its names may change meanwhile; the file itself is held open.
//
// Used by one thread, which is sent a signal when somebody waits.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pastcone/base/files.h"

namespace pastcone::record {

class ReadLeases {
 public:
  /// `wake` is bumped, and who sleeps on it woken, when there is something in wanted().
  explicit ReadLeases(uint32_t& wake) : wake_(&wake) {}

  struct Held {
    UniqueFd fd;
    bool sure = true;  ///< false: another user's, who may change it without being seen; we may not
  };

  /// Holds `fd`'s file, which is open for reading, from now on. False if somebody has it open for writing, or
  /// could have without being seen.
  bool take(uint32_t id, int fd);
  /// Those that somebody waits for. Costs nothing if there are none.
  std::vector<uint32_t> wanted();
  void give_back(uint32_t id) { held_.erase(id); }
  void give_back_all() { held_.clear(); }

  const std::map<uint32_t, Held>& held() const { return held_; }

 private:
  bool announce();

  uint32_t* wake_;
  bool announced_ = false;
  std::map<uint32_t, Held> held_;
};

}  // namespace pastcone::record
