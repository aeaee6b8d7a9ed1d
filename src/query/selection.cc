#include "pastcone/query/selection.h"

#include <algorithm>

namespace pastcone::query {

Selection::Selection(std::span<const Condition> conditions, const Columns& columns) {
  for (const Condition& condition : conditions) {
    if (condition.column == columns.process) process(condition.text);
    if (condition.column == columns.number) number(condition.comparison, condition.number);
    if (condition.column == columns.thread) {
      auto id = ThreadId::parse(condition.text);
      if (id)
        thread(*id);
      else
        nothing_ = true;
    }
    if (condition.column == columns.event) {
      auto id = EventId::parse(condition.text);
      if (!id) {
        nothing_ = true;
        continue;
      }
      thread(id->thread());
      from_ = std::max(from_, id->index());
      to_ = std::min(to_, id->index());
    }
  }
  nothing_ = nothing_ || from_ > to_;
}

void Selection::process(const std::string& text) {
  auto id = ProcessId::parse(text);
  nothing_ = nothing_ || !id || (process_ && *process_ != *id);
  if (id) process_ = *id;
}

void Selection::thread(ThreadId id) {
  nothing_ = nothing_ || (thread_ && *thread_ != id);
  thread_ = id;
}

void Selection::at_least(int64_t number) {
  if (number > 0) from_ = std::max(from_, static_cast<uint64_t>(number));
}

void Selection::at_most(int64_t number) {
  if (number > 0)
    to_ = std::min(to_, static_cast<uint64_t>(number));
  else
    nothing_ = true;
}

void Selection::number(Comparison comparison, int64_t value) {
  switch (comparison) {
    case Comparison::kEqual:
      at_least(value);
      return at_most(value);
    case Comparison::kLess:
      return at_most(value == INT64_MIN ? value : value - 1);
    case Comparison::kLessEqual:
      return at_most(value);
    case Comparison::kGreater:
      return at_least(value == INT64_MAX ? value : value + 1);
    case Comparison::kGreaterEqual:
      return at_least(value);
  }
}

double rows_left(double all, double threads, std::span<const Condition> conditions,
                 const Selection::Columns& columns) {
  // Getting to an event in the middle of a thread means reading what is before it, so that is not free.
  constexpr double kOneEvent = 0.01, kRange = 0.5, kProcess = 0.3;
  bool thread = false, process = false;
  double part = 1;
  for (const Condition& condition : conditions) {
    thread = thread || condition.column == columns.thread || condition.column == columns.event;
    process = process || condition.column == columns.process;
    if (condition.column == columns.event) part *= kOneEvent;
    if (condition.column == columns.number)
      part *= condition.comparison == Comparison::kEqual ? kOneEvent : kRange;
  }
  if (thread)
    part /= std::max(threads, 1.0);
  else if (process)
    part *= kProcess;
  return all * part;
}

}  // namespace pastcone::query
