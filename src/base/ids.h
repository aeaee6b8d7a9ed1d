// The names of things in a recording, as types: a process p3, a thread p3.2, an event p3.2:17.
//
// All count from 1, processes in order of appearance, threads within their process, events within their
// thread; 0 is "none", what a default-constructed id holds. Thread 1 of a process is written as the process
// itself (p3, p3:1041), because most processes have no other. parse() takes what format() gives, and p3.1 for
// p3.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pastcone/base/result.h"

namespace pastcone {

/// p3
class ProcessId {
 public:
  constexpr ProcessId() = default;
  constexpr explicit ProcessId(uint32_t number) : number_(number) {}
  static Result<ProcessId> parse(std::string_view text);

  constexpr uint32_t number() const { return number_; }
  constexpr bool valid() const { return number_ != 0; }
  constexpr auto operator<=>(const ProcessId&) const = default;

 private:
  uint32_t number_ = 0;
};

/// p3.2, or p3 for the first thread of p3. Ordered by process, then thread.
class ThreadId {
 public:
  constexpr ThreadId() = default;
  constexpr ThreadId(ProcessId process, uint32_t number) : process_(process), number_(number) {}
  static Result<ThreadId> parse(std::string_view text);

  constexpr ProcessId process() const { return process_; }
  constexpr uint32_t number() const { return number_; }
  constexpr bool valid() const { return process_.valid() && number_ != 0; }
  constexpr auto operator<=>(const ThreadId&) const = default;

 private:
  ProcessId process_;
  uint32_t number_ = 0;
};

/// p3.2:17, or p3:1041 for the first thread of p3. Index 0 stands before the thread's first event, as in a
/// cut entry of a thread that is not created yet; it is written :0 and is not parsed. The order is that of
/// containers (thread, then index), not happened-before.
class EventId {
 public:
  constexpr EventId() = default;
  constexpr EventId(ThreadId thread, uint64_t index) : thread_(thread), index_(index) {}
  static Result<EventId> parse(std::string_view text);

  constexpr ThreadId thread() const { return thread_; }
  constexpr ProcessId process() const { return thread_.process(); }
  constexpr uint64_t index() const { return index_; }
  constexpr bool valid() const { return thread_.valid() && index_ != 0; }
  constexpr auto operator<=>(const EventId&) const = default;

 private:
  ThreadId thread_;
  uint64_t index_ = 0;
};

std::string to_string(ProcessId id);
std::string to_string(ThreadId id);
std::string to_string(EventId id);

/// {} prints an id as to_string() does; widths and alignment work as for strings.
template <typename Id>
struct IdFormatter : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(Id id, Context& context) const {
    return fmt::formatter<std::string_view>::format(to_string(id), context);
  }
};

}  // namespace pastcone

template <>
struct fmt::formatter<pastcone::ProcessId> : pastcone::IdFormatter<pastcone::ProcessId> {};
template <>
struct fmt::formatter<pastcone::ThreadId> : pastcone::IdFormatter<pastcone::ThreadId> {};
template <>
struct fmt::formatter<pastcone::EventId> : pastcone::IdFormatter<pastcone::EventId> {};

template <>
struct std::hash<pastcone::ProcessId> {
  size_t operator()(pastcone::ProcessId id) const noexcept { return std::hash<uint32_t>()(id.number()); }
};
template <>
struct std::hash<pastcone::ThreadId> {
  size_t operator()(pastcone::ThreadId id) const noexcept {
    return std::hash<uint64_t>()(uint64_t{id.process().number()} << 32 | id.number());
  }
};
template <>
struct std::hash<pastcone::EventId> {
  size_t operator()(pastcone::EventId id) const noexcept {
    // Indices are small and dense: an odd multiplier keeps neighbouring threads apart.
    return std::hash<pastcone::ThreadId>()(id.thread()) * 0x9e3779b97f4a7c15u ^
           std::hash<uint64_t>()(id.index());
  }
};
