#include "pastcone/cli/debug_completion.h"

#include <algorithm>
#include <string_view>

#include "pastcone/replay/indexing.h"

namespace pastcone::cli {
namespace {

using shell::Completion;

constexpr std::string_view kBlanks = " \t";

/// Where the last of these ends; 0: there is none.
size_t behind_last(std::string_view text, std::initializer_list<std::string_view> marks) {
  size_t end = 0;
  for (std::string_view mark : marks)
    if (size_t at = text.rfind(mark); at != std::string_view::npos) end = std::max(end, at + mark.size());
  return end;
}

/// What gdb offers for text[begin, end) behind the command.
Completion ask(const GdbCompletion& gdb, ThreadId thread, std::string_view command, std::string_view text,
               size_t begin) {
  begin = std::min(text.find_first_not_of(kBlanks, begin), text.size());
  std::string before(command), line = before.append(" ") + std::string(text.substr(begin));
  size_t blank = text.find_last_of(kBlanks);
  Completion completion;
  completion.start = std::max(begin, blank == std::string_view::npos ? 0 : blank + 1);
  size_t shown = before.size() + completion.start - begin;  // all before it is as it was typed
  for (const std::string& whole : gdb(thread, line))
    if (whole.size() >= shown && line.compare(0, shown, whole, 0, shown) == 0)
      completion.candidates.push_back(whole.substr(shown));
  return completion;
}

ThreadId thread_named(std::string_view name) {
  auto thread = ThreadId::parse(name);
  return thread ? *thread : ThreadId();
}

std::string_view trimmed(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace

GdbCompletion completion_by(debug::Engine& engine, debug::Seats& seats, const ThreadId& focus) {
  return [&engine, &seats, &focus](ThreadId thread, const std::string& line) -> std::vector<std::string> {
    if (!engine.has_run()) return {};
    bool runs = thread.valid() && engine.world().graph.find(thread) && engine.now().tid(thread) != 0;
    auto gdb = seats.look_at(runs ? thread : focus);
    if (!gdb) return {};
    auto found = (*gdb)->complete(line);
    return found ? *found : std::vector<std::string>();
  };
}

std::vector<std::string> object_names(const Recording& recording) {
  std::vector<std::string> names;
  auto objects = replay::known_objects(recording);
  for (size_t i = 0; objects && i < objects->size(); ++i)
    names.push_back((*objects)[i].name.empty() ? std::to_string(i + 1) : (*objects)[i].name);
  return names;
}

shell::Completer like_in_gdb(GdbCompletion gdb, std::string command) {
  return [gdb = std::move(gdb), command = std::move(command)](std::string_view text) {
    size_t begin = behind_last(text, {": "});
    ThreadId thread = begin == 0 ? ThreadId() : thread_named(trimmed(text.substr(0, begin - 2)));
    if (size_t condition = behind_last(text, {" if "}); condition > begin)
      return ask(gdb, thread, "print", text, condition);
    return ask(gdb, thread, command, text, begin);
  };
}

shell::Completer program_completer(std::function<std::vector<std::string>()> programs, shell::Completer places) {
  return [programs = std::move(programs), places = std::move(places)](std::string_view text) {
    Completion all = places(text);
    if (text.find_first_of(kBlanks) != std::string_view::npos) return all;
    for (const std::string& name : programs())
      if (name.starts_with(text)) all.candidates.insert(all.candidates.begin(), name + ":");
    return all;
  };
}

shell::Completer predicate_completer(GdbCompletion gdb, std::vector<std::string> processes) {
  processes.push_back("any");
  return [gdb = std::move(gdb), processes = std::move(processes)](std::string_view text) {
    size_t begin = behind_last(text, {"&&", "||", "->", ",", " if "});
    std::string_view term = text.substr(begin);
    size_t colon = term.find(": ");
    if (colon == std::string_view::npos) {
      Completion names = shell::complete_last_word(text, processes, "&|>,!(");
      for (std::string& name : names.candidates)
        if (name != "any") name += ":";
      return names;
    }
    std::string_view who = term.substr(0, colon);
    who = who.substr(std::min(who.find_first_not_of(" \t!("), who.size()));
    ThreadId thread = thread_named(trimmed(who));
    if (size_t place = behind_last(text, {" at ", " in "}); place > begin)
      return ask(gdb, thread, "break", text, place);
    return ask(gdb, thread, "print", text, begin + colon + 1);
  };
}

shell::Completer demand_completer(shell::Completer events,
                                  std::function<std::vector<std::string>()> objects) {
  return [events = std::move(events), objects = std::move(objects)](std::string_view text) {
    if (text.starts_with("obj ")) {
      std::vector<std::string> names = objects();
      for (std::string& name : names) name += "#";
      return shell::complete_last_word(text, names);
    }
    if (text.find_first_of(kBlanks) != std::string_view::npos) return Completion{text.size(), {}};
    Completion all = events(text);
    Completion others = shell::complete_last_word(text, {"obj", "recv", "send", "state"});
    if (others.candidates.empty()) return all;
    if (all.candidates.empty()) return others;
    all.candidates.insert(all.candidates.end(), others.candidates.begin(), others.candidates.end());
    return all;
  };
}

}  // namespace pastcone::cli
