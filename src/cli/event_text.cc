#include "pastcone/cli/event_text.h"

#include <string.h>

#include <algorithm>
#include <iterator>

#include "pastcone/cli/end_json.h"
#include "pastcone/cli/text.h"
#include "pastcone/trace/json.h"
#include "pastcone/trace/manifest.h"
#include "pastcone/trace/processes.h"
#include "pastcone/trace/program_image.h"

namespace pastcone::cli {
namespace {

using format::Op;
using format::Shape;
using Json = nlohmann::ordered_json;

constexpr size_t kGlance = 32;           // bytes of a payload to show
constexpr uint64_t kMaxImage = 8 << 20;  // of an exec

/// The name of the error a call ended with; nullptr if it did not.
const char* error_name(int64_t result) {
  return result < 0 && result >= -4095 ? strerrorname_np(static_cast<int>(-result)) : nullptr;
}

/// The first bytes of a payload.
std::string glance(const Item& item, EventReader& reader, size_t most) {
  Bytes bytes(std::min<uint64_t>(item.payload_length, most));
  if (!reader.stream().copy_payload(item, 0, bytes)) bytes.clear();
  return std::string(as_text(bytes));
}

bool is_text(std::string_view bytes) {
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
  });
}

/// "hello\n"… if it is text, else its size.
std::string payload_text(const Item& item, EventReader& reader) {
  if (item.payload_length == 0) return {};
  std::string bytes = glance(item, reader, kGlance);
  if (!is_text(bytes)) return plural(item.payload_length, "byte", "bytes");
  std::string text = "\"";
  for (char c : bytes) {
    switch (c) {
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\t':
        text += "\\t";
        break;
      case '"':
        text += "\\\"";
        break;
      case '\\':
        text += "\\\\";
        break;
      default:
        text += c;
    }
  }
  return text + (item.payload_length > kGlance ? "\"…" : "\"");
}

/// Seconds with nine digits.
std::string seconds(int64_t ns) {
  auto magnitude = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return fmt::format("{}{}.{:09} s", ns < 0 ? "-" : "", magnitude / 1'000'000'000, magnitude % 1'000'000'000);
}

/// As long as it fits an int64_t of ns.
std::string date(int64_t value, int64_t ns_per_unit) {
  int64_t ns;
  return __builtin_mul_overflow(value, ns_per_unit, &ns) ? fmt::format("{}", value) : format_time(ns);
}

std::string clock_name(uint64_t id) {
  constexpr const char* kNames[] = {"realtime",      "monotonic",       "process cpu",      "thread cpu",
                                    "monotonic raw", "realtime coarse", "monotonic coarse", "boottime"};
  return id < std::size(kNames) ? kNames[id] : fmt::format("clock {}", id);
}

std::string start_text(const Item& item) {
  std::string text = fmt::format("pid {}", item.pid);
  if (item.tid != item.pid) text += fmt::format(" tid {}", item.tid);
  if (item.thread.valid()) text += fmt::format(" by {}", EventId(item.thread, item.parent_event));
  return fmt::format("{}  {}", text, format_time(item.time));
}

std::string exec_text(const Item& item, EventReader& reader) {
  if (item.payload_length > kMaxImage) return "?";
  auto payload = reader.payload(item);
  if (!payload) return "?";
  auto image = ProgramImage::parse(*payload);
  return image ? command_text(image->arguments) : "?";
}

std::string mark_text(const Item& mark) {
  switch (mark.op) {
    case Op::kTurn:
    case Op::kTurnAfter:
      if (mark.number == 0) return "turn given up";
      return fmt::format("turn {}#{}", mark.object, mark.number);
    case Op::kOrder:
      return fmt::format("obj {}#{}", mark.object, mark.number);
    case Op::kInside:
      return fmt::format("inside lock operation {}", mark.number);
    case Op::kOffset:
      return fmt::format("from byte {}", mark.position);
    case Op::kOutput:
      return fmt::format("{} #{}",
                         mark.flags == 1   ? "stdout"
                         : mark.flags == 2 ? "stderr"
                                           : "output",
                         mark.number);
    default:
      return {};
  }
}

Json mark_json(const Item& mark, EventReader& reader) {
  Json json;
  json["mark"] = std::string(kind_name(mark));
  switch (mark.op) {
    case Op::kTurn:
    case Op::kTurnAfter:
      json["group"] = mark.object;
      json["number"] = mark.number;
      json["after"] = mark.op == Op::kTurnAfter;
      break;
    case Op::kOrder:
      json["object"] = mark.object;
      json["number"] = mark.number;
      break;
    case Op::kInside:
      json["operation"] = mark.number;
      break;
    case Op::kOffset:
      json["position"] = mark.position;
      break;
    case Op::kOutput:
      json["fd"] = mark.flags;
      json["number"] = mark.number;
      json["position"] = mark.position;
      break;
    case Op::kFile:
      json["file"] = mark.file;
      json["path"] = glance(mark, reader, 4096);
      break;
    default:
      break;
  }
  return json;
}

}  // namespace

std::string event_kind(const Item& item) {
  std::string_view name = kind_name(item);
  return name.empty() ? fmt::format("call {}", item.call) : std::string(name);
}

std::string result_text(int64_t result) {
  const char* name = error_name(result);
  return name != nullptr ? fmt::format("= {}", name) : fmt::format("= {}", result);
}

std::string EventText::file(uint64_t id) const {
  const FileEntry* entry = files_.find(id);
  return entry == nullptr ? fmt::format("file {}", id)
                          : fmt::format("file {} {}", id, printable(entry->path));
}

std::string EventText::call(const Item& item, EventReader& reader) const {
  std::string result = result_text(item.result);
  switch (item.shape) {
    case Shape::kOut: {
      std::string payload = payload_text(item, reader);
      return payload.empty() ? result : fmt::format("{}  {}", payload, result);
    }
    case Shape::kSend: {
      bool all = item.result == static_cast<int64_t>(item.length);
      return all ? fmt::format("ch {}->  {}", item.channel, result)
                 : fmt::format("ch {}->  {} of {} bytes", item.channel, result, item.length);
    }
    case Shape::kReceive:
    case Shape::kMessage:
      return fmt::format("ch {}<-  {}", item.channel, result);
    case Shape::kOpen:
      return item.channel == 0 ? result : fmt::format("opens ch {}->  {}", item.channel - 1, result);
    case Shape::kFile:
      if (item.file == 0) return fmt::format("/dev/zero  {}", result);
      return fmt::format("{} @{}  {}", file(item.file), item.position, result);
    case Shape::kCreate:
      return fmt::format("{}  {}", item.thread, result);
    case Shape::kAddress: {
      if (error_name(item.result) == nullptr)
        result = fmt::format("= {:#x}", static_cast<uint64_t>(item.result));
      return item.file == 0 ? result : fmt::format("{}  {}", file(item.file), result);
    }
    default:
      return result;
  }
}

std::string EventText::detail(const Item& item, EventReader& reader) const {
  switch (item.op) {
    case Op::kCall:
      return call(item, reader);
    case Op::kStart:
      return start_text(item);
    case Op::kExec:
      return exec_text(item, reader);
    case Op::kThreadExit:
    case Op::kExitGroup:
      return fmt::format("{}", item.result);
    case Op::kSignal:
    case Op::kFault:
    case Op::kFatal:
      return signal_name(item.signal);
    case Op::kRealtime:
      return format_time(item.time);
    case Op::kMonotonic:
    case Op::kClock:
      return item.clock == 0 ? format_time(item.time)
                             : fmt::format("{} {}", clock_name(item.clock), seconds(item.time));
    case Op::kTimeOfDay:
      return date(item.time, 1000);
    case Op::kTime:
      return date(item.time, 1'000'000'000);
    case Op::kTsc:
      return fmt::format("= {}", static_cast<uint64_t>(item.time));
    case Op::kRandom:
      return fmt::format("= {:#x}{}", item.value, item.flags != 0 ? "" : " (failed)");
    case Op::kStop: {
      std::string text = printable(glance(item, reader, 4096));
      return fmt::format("{}{}{}", to_string(static_cast<format::StopReason>(item.reason)),
                         text.empty() ? "" : ": ", text);
    }
    default:
      return {};
  }
}

void EventText::append(const Event& event, EventReader& reader, fmt::memory_buffer& out) const {
  auto end = std::back_inserter(out);
  std::string kind = event_kind(event.item), what = detail(event.item, reader);
  if (what.empty() && event.marks.empty()) {
    fmt::format_to(end, "{}", kind);
  } else {
    fmt::format_to(end, "{:<16}  {}", kind, what);
  }
  std::string_view separator = "  [";
  for (const Item& mark : event.marks) {
    std::string text = mark_text(mark);
    if (text.empty()) continue;
    fmt::format_to(end, "{}{}", separator, text);
    separator = ", ";
  }
  if (separator == ", ") out.push_back(']');
}

void EventText::line(ThreadId thread, const Event& event, EventReader& reader,
                     fmt::memory_buffer& out) const {
  fmt::format_to(std::back_inserter(out), "{:<12}  ", EventId(thread, event.item.event));
  append(event, reader, out);
  out.push_back('\n');
}

std::string EventText::what(const Event& event, EventReader& reader) const {
  fmt::memory_buffer out;
  append(event, reader, out);
  return fmt::to_string(out);
}

void EventText::call_json(const Item& item, Json& json) const {
  json["call"] = item.call;
  json["shape"] = shape_name(item.shape);
  switch (item.shape) {
    case Shape::kSend:
      json["length"] = item.length;
      [[fallthrough]];
    case Shape::kReceive:
    case Shape::kMessage:
      json["channel"] = item.channel;
      break;
    case Shape::kOpen:
      json["channel"] = item.channel == 0 ? Json() : Json(item.channel - 1);
      break;
    case Shape::kFile:
      json["position"] = item.position;
      break;
    case Shape::kCreate:
      json["created"] = to_string(item.thread);
      break;
    default:
      break;
  }
  if (item.file != 0) {
    json["file"] = item.file;
    if (const FileEntry* entry = files_.find(item.file)) json["path"] = entry->path;
    if (item.shape == Shape::kAddress) json["patched"] = item.flags != 0;
  }
  json["result"] = item.result;
  if (const char* name = error_name(item.result)) json["error"] = name;
}

Json EventText::json(ThreadId thread, const Event& event, EventReader& reader) const {
  const Item& item = event.item;
  Json json;
  json["event"] = to_string(EventId(thread, item.event));
  json["kind"] = event_kind(item);
  switch (item.op) {
    case Op::kCall:
      call_json(item, json);
      break;
    case Op::kStart:
      json["pid"] = item.pid;
      json["tid"] = item.tid;
      json["parent"] =
          item.thread.valid() ? Json(to_string(EventId(item.thread, item.parent_event))) : Json();
      json["time_ns"] = item.time;
      break;
    case Op::kExec: {
      auto payload = item.payload_length > kMaxImage ? ByteView() : reader.payload(item).value_or(ByteView());
      if (auto image = ProgramImage::parse(payload)) {
        json["path"] = image->path;
        json["arguments"] = image->arguments;
        json["cwd"] = image->cwd;
      }
      break;
    }
    case Op::kThreadExit:
    case Op::kExitGroup:
      json["status"] = item.result;
      break;
    case Op::kSignal:
    case Op::kFault:
    case Op::kFatal:
      json["signal"] = item.signal;
      json["name"] = signal_name(item.signal);
      break;
    case Op::kClock:
    case Op::kRealtime:
    case Op::kMonotonic:
      json["clock"] = item.clock;
      json["time_ns"] = item.time;
      break;
    case Op::kTimeOfDay:
      json["time_us"] = item.time;
      break;
    case Op::kTime:
      json["time_s"] = item.time;
      break;
    case Op::kTsc:
      json["ticks"] = static_cast<uint64_t>(item.time);
      break;
    case Op::kRandom:
      json["value"] = item.value;
      json["success"] = item.flags != 0;
      break;
    case Op::kStop:
      json["reason"] = std::string(to_string(static_cast<format::StopReason>(item.reason)));
      json["detail"] = glance(item, reader, 4096);
      break;
    default:
      break;
  }
  if (item.payload_length != 0) json["payload_bytes"] = item.payload_length;
  if (event.corrected) json["corrected"] = true;
  for (const Item& mark : event.marks) json["marks"].push_back(mark_json(mark, reader));
  return json;
}

}  // namespace pastcone::cli
