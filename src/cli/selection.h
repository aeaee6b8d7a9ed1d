// [REC] [pN | pN.T]…: a recording, and which of its threads are meant.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/recording.h"

namespace pastcone::cli {

class Selection {
 public:
  /// False: it is not a process or thread.
  bool add(const std::string& text);
  /// Nothing added: all.
  bool contains(ThreadId thread) const;
  /// An error if something selected is not in the recording.
  Status check(const Recording& recording) const;

 private:
  std::set<ProcessId> processes_;
  std::set<ThreadId> threads_;
};

struct Selected {
  std::string rec;  ///< empty: the newest
  Selection selection;
};
Result<Selected> parse_selection(const std::vector<std::string>& what);

}  // namespace pastcone::cli
