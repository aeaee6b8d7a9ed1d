#include "pastcone/base/ids.h"

#include <charconv>

namespace pastcone {
namespace {

/// Takes a number from 1 on off the front of `text`; false if there is none, it is 0 or does not fit.
/// No sign, no leading zeros: every id has one spelling.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  if (text.empty() || text.front() < '1' || text.front() > '9') return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

bool take_process(std::string_view& text, ProcessId& id) {
  uint32_t number = 0;
  if (!take(text, 'p') || !take_number(text, number)) return false;
  id = ProcessId(number);
  return true;
}

bool take_thread(std::string_view& text, ThreadId& id) {
  ProcessId process;
  uint32_t number = 1;
  if (!take_process(text, process)) return false;
  if (take(text, '.') && !take_number(text, number)) return false;
  id = ThreadId(process, number);
  return true;
}

bool take_event(std::string_view& text, EventId& id) {
  ThreadId thread;
  uint64_t index = 0;
  if (!take_thread(text, thread) || !take(text, ':') || !take_number(text, index)) return false;
  id = EventId(thread, index);
  return true;
}

}  // namespace

Result<ProcessId> ProcessId::parse(std::string_view text) {
  ProcessId id;
  std::string_view rest = text;
  if (!take_process(rest, id) || !rest.empty()) return fail("'{}' is not a process: write it like p3", text);
  return id;
}

Result<ThreadId> ThreadId::parse(std::string_view text) {
  ThreadId id;
  std::string_view rest = text;
  if (!take_thread(rest, id) || !rest.empty()) {
    return fail("'{}' is not a thread: write it like p3.2, or p3 for the first thread of p3", text);
  }
  return id;
}

Result<EventId> EventId::parse(std::string_view text) {
  EventId id;
  std::string_view rest = text;
  if (!take_event(rest, id) || !rest.empty()) {
    return fail("'{}' is not an event: write it like p3:1041 or p3.2:17, counted from 1", text);
  }
  return id;
}

std::string to_string(ProcessId id) { return fmt::format("p{}", id.number()); }

std::string to_string(ThreadId id) {
  return id.number() == 1 ? to_string(id.process())
                          : fmt::format("p{}.{}", id.process().number(), id.number());
}

std::string to_string(EventId id) { return fmt::format("{}:{}", to_string(id.thread()), id.index()); }

}  // namespace pastcone
