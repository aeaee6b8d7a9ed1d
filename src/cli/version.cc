// pastcone version
#include <memory>
#include <nlohmann/json.hpp>

#include "pastcone/cli/program.h"
#include "pastcone/trace/format.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {

void add_version(Program& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App& version = program.add("version", "the version of pastcone and of its recordings", [json] {
    if (*json) {
      nlohmann::ordered_json out;
      out["pastcone"] = PASTCONE_VERSION;
      out["format"] = format::kVersion;
      fmt::print("{}\n", dump_json(out, 2));
    } else {
      fmt::print("pastcone {}, recordings of format {}\n", PASTCONE_VERSION, format::kVersion);
    }
    return 0;
  });
  version.add_flag("--json", *json, "for programs");
}

}  // namespace pastcone::cli
