// pastcone show obj: the histories of shared objects.
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/text.h"
#include "pastcone/replay/indexing.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using replay::Access;
using replay::ObjectHistory;
using Json = nlohmann::ordered_json;

struct Options {
  std::string what, which = "all", rec;
  bool json = false;
};

/// "2" for p2, "2.3" for p2.3: as short as there may be many.
std::string short_name(ThreadId thread) { return to_string(thread).substr(1); }

std::string title(size_t number, const ObjectHistory& object) {
  std::string text = fmt::format("obj {}", number);
  if (!object.name.empty()) text += " " + printable(object.name);
  return text + fmt::format(": {}{}, {}, {}, {}", object.shared ? "shared " : "",
                            replay::kind_name(object.kind),
                            plural(object.accesses.size(), "access", "accesses"),
                            plural(object.hand_overs(), "hand-over", "hand-overs"),
                            plural(object.threads(), "thread", "threads"));
}

void print(size_t number, const ObjectHistory& object, size_t width) {
  fmt::print("{}\n", title(number, object));
  std::string line;
  for (size_t i = 0; i < object.accesses.size(); ++i) {
    const Access& access = object.accesses[i];
    std::string item = fmt::format(" {}: {}{}", i, short_name(access.thread), access.write ? 'w' : 'r');
    if (width > 0 && !line.empty() && line.size() + item.size() + 1 > width) {
      fmt::print(" {}\n", line);
      line.clear();
    }
    line += item;
  }
  fmt::print(" {}\n", line);
}

Json to_json(size_t number, const ObjectHistory& object) {
  Json json;
  json["object"] = number;
  json["name"] = object.name.empty() ? Json() : Json(object.name);
  json["kind"] = replay::kind_name(object.kind);
  json["shared"] = object.shared;
  json["hand_overs"] = object.hand_overs();
  json["threads"] = object.threads();
  json["accesses"] = Json::array();
  for (const Access& access : object.accesses) {
    json["accesses"].push_back({{"thread", to_string(access.thread)},
                                {"access", access.write ? "w" : "r"},
                                {"event", to_string(EventId(access.thread, access.event))},
                                {"caller", fmt::format("{:#x}", access.caller)}});
  }
  return json;
}

std::optional<size_t> as_number(const std::string& text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  if (auto [rest, error] = std::from_chars(text.data(), end, number); error != std::errc() || rest != end) {
    return std::nullopt;
  }
  return number;
}

/// The numbers of those that are meant. Objects may have the same name.
Result<std::vector<size_t>> choose(const std::vector<ObjectHistory>& objects, const std::string& which) {
  std::vector<size_t> chosen;
  auto wanted = as_number(which);
  for (size_t number = 1; number <= objects.size(); ++number) {
    if (which == "all" || wanted == number || objects[number - 1].name == which) chosen.push_back(number);
  }
  if (!chosen.empty() || which == "all") return chosen;
  return fail("no object {} in this recording, which has {}; try: pastcone show obj all", printable(which),
              objects.empty() ? "none" : plural(objects.size(), "object", "objects"));
}

Result<int> show(Options options) {
  // One argument alone may be either: a recording that exists is one.
  if (options.rec.empty() && options.which != "all" && options.which.find('/') != std::string::npos) {
    options.rec = std::exchange(options.which, "all");
  }
  Recording recording = TRY(open_recording(options.rec));
  replay::IndexedObjects found = TRY(replay::index_objects(recording));
  std::vector<size_t> chosen = TRY(choose(found.objects, options.which));
  if (options.json) {
    Json json = Json::array();
    for (size_t number : chosen) json.push_back(to_json(number, found.objects[number - 1]));
    fmt::print("{}\n", dump_json(json, 2));
  } else if (chosen.empty()) {
    fmt::print("no objects{}\n", recording.manifest().parallel
                                     ? ""
                                     : ": in a serial recording only those that the program names are known");
  } else {
    fmt::print("access histories (w: writes, r: reads)\n");
    for (size_t number : chosen) print(number, found.objects[number - 1], terminal_width());
  }
  if (found.divergence.empty()) return 0;
  print_error("known only so far: " + found.divergence);
  return 1;
}

}  // namespace

void add_show(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& command = program.add("show", "what is shared: show obj, who used which object in which order",
                                  [options] { return show(*options); });
  command.add_option("WHAT", options->what, "obj")->required()->check(CLI::IsMember({"obj"}));
  command.add_option("OBJECT", options->which, "its number or name, or all, which is meant if left out");
  command.add_option("REC", options->rec, "name or directory of a recording; left out, the newest");
  command.add_flag("--json", options->json, "for programs");
}

}  // namespace pastcone::cli
