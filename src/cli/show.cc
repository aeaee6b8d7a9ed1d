// pastcone show obj: the histories of shared objects.
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/cli/program.h"
#include "pastcone/cli/object_text.h"
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

Result<int> show(Options options) {
  // One argument alone may be either: a recording that exists is one.
  if (options.rec.empty() && options.which != "all" && options.which.find('/') != std::string::npos) {
    options.rec = std::exchange(options.which, "all");
  }
  Recording recording = TRY(open_recording(options.rec));
  replay::IndexedObjects found = TRY(replay::index_objects(recording));
  std::vector<size_t> chosen = TRY(choose_objects(found.objects, options.which));
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
    for (size_t number : chosen) print_history(number, found.objects[number - 1]);
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
