// Which threads and events the conditions of a query leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pastcone/base/ids.h"
#include "pastcone/query/table.h"

namespace pastcone::query {

class Selection {
 public:
  /// The columns that say which event a row is about.
  struct Columns {
    int event, process, thread, number;
  };

  Selection(std::span<const Condition> conditions, const Columns& columns);

  bool contains(ThreadId thread) const {
    return !nothing_ && (!process_ || thread.process() == *process_) && (!thread_ || thread == *thread_);
  }
  /// The only one that may be contained.
  std::optional<ThreadId> thread() const { return thread_; }
  uint64_t from() const { return from_; }
  uint64_t to() const { return to_; }

 private:
  void process(const std::string& text);
  void thread(ThreadId thread);
  void number(Comparison comparison, int64_t number);
  void at_least(int64_t number);
  void at_most(int64_t number);

  std::optional<ProcessId> process_;
  std::optional<ThreadId> thread_;
  uint64_t from_ = 1, to_ = UINT64_MAX;
  bool nothing_ = false;
};

/// What is left of so many rows.
double rows_left(double all, double threads, std::span<const Condition> conditions,
                 const Selection::Columns& columns);

}  // namespace pastcone::query
