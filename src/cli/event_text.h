// An event as one line of text, or as JSON.
//
//   p3:1041       read              ch 12<-  = 45
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pastcone/base/ids.h"
#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/file_table.h"

namespace pastcone::cli {

class EventText {
 public:
  explicit EventText(const FileTable& files) : files_(files) {}

  /// Appends the line, with its end. Reads the payload from `reader` where a glance at it helps.
  void line(ThreadId thread, const Event& event, EventReader& reader, fmt::memory_buffer& out) const;
  /// The same without the event's name, and without an end.
  std::string what(const Event& event, EventReader& reader) const;
  nlohmann::ordered_json json(ThreadId thread, const Event& event, EventReader& reader) const;

 private:
  void append(const Event& event, EventReader& reader, fmt::memory_buffer& out) const;
  std::string call(const Item& item, EventReader& reader) const;
  std::string detail(const Item& item, EventReader& reader) const;
  std::string file(uint64_t id) const;
  void call_json(const Item& item, nlohmann::ordered_json& json) const;

  const FileTable& files_;
};

/// kind_name(), or "call 9999" for a call without a name.
std::string event_kind(const Item& item);

/// "= 45", "= EAGAIN".
std::string result_text(int64_t result);

}  // namespace pastcone::cli
