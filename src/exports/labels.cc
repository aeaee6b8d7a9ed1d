#include "pastcone/exports/labels.h"

#include "pastcone/graph/names.h"
#include "pastcone/trace/json.h"

namespace pastcone::exports {

using format::Shape;

uint64_t Subject::events() const {
  uint64_t sum = 0;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    if (has(thread)) sum += graph::last_event(graph, thread);
  }
  return sum;
}

std::string kind_text(const Item& item) {
  std::string_view name = kind_name(item);
  return name.empty() ? fmt::format("call {}", item.call) : std::string(name);
}

namespace {
std::string plain_label(const Item& item) {
  std::string text = kind_text(item);
  if (!item.is_call()) return text;
  if (item.shape == Shape::kSend || item.shape == Shape::kReceive || item.shape == Shape::kMessage) {
    text += fmt::format(" ch {}", item.channel);
  }
  if (item.shape == Shape::kCreate) text += fmt::format(" {}", item.thread);
  if (item.shape == Shape::kAddress) return text;
  return fmt::format("{} = {}", text, item.result);
}
}  // namespace

std::string label(const Subject& subject, ThreadId thread, const Item& item) {
  std::string text = plain_label(item);
  const std::string& place = subject.place(EventId(thread, item.event));
  return place.empty() ? text : text + " at " + place;
}

const std::string& Subject::place(EventId event) const {
  static const std::string kNowhere;
  return where ? where(event) : kNowhere;
}

std::string process_label(const ProcessTable& processes, ProcessId process) {
  std::string text = to_string(process);
  const ProgramRun* program = processes.program(process);
  if (program == nullptr) return text;
  if (program->arguments.empty()) return text + " " + printable(program->path);
  for (const std::string& argument : program->arguments) text += " " + printable(argument);
  return text;
}

}  // namespace pastcone::exports
