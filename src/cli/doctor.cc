// pastcone doctor: what this machine can and cannot do, one line each, with the remedy. Exit status 0 if
// recording is possible.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/cli/checks.h"
#include "pastcone/cli/program.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

const char* verdict_text(Check::Verdict verdict) {
  switch (verdict) {
    case Check::Verdict::kFine:
      return "ok";
    case Check::Verdict::kLimited:
      return "limited";
    case Check::Verdict::kMissing:
      return "missing";
  }
  return "?";
}

Result<int> examine(bool as_json) {
  std::vector<Check> checks = check_machine();
  bool possible = std::none_of(checks.begin(), checks.end(),
                               [](const Check& check) { return check.verdict == Check::Verdict::kMissing; });
  if (as_json) {
    nlohmann::ordered_json json;
    json["recording_possible"] = possible;
    json["checks"] = nlohmann::ordered_json::array();
    for (const Check& check : checks) {
      json["checks"].push_back({{"name", check.name},
                                {"verdict", verdict_text(check.verdict)},
                                {"finding", check.finding},
                                {"remedy", check.remedy}});
    }
    fmt::print("{}\n", dump_json(json, 2));
  } else {
    for (const Check& check : checks) {
      fmt::print("{:<8} {}: {}{}{}\n", verdict_text(check.verdict), check.name, check.finding,
                 check.remedy.empty() ? "" : "; ", check.remedy);
    }
    fmt::print("{}\n", possible ? "recording is possible" : "recording is not possible");
  }
  return possible ? 0 : 1;
}

}  // namespace

void add_doctor(Program& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App& doctor = program.add("doctor", "what this machine can and cannot do, with the remedies",
                                 [json] { return examine(*json); });
  doctor.add_flag("--json", *json, "for programs");
}

}  // namespace pastcone::cli
