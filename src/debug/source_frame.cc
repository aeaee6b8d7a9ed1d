#include "pastcone/debug/source_frame.h"

#include <unistd.h>

namespace pastcone::debug {
namespace {

constexpr int kMost = 16;  // frames of libraries between a call and the program

}  // namespace

Status select_source_frame(gdb::Gdb& gdb) {
  gdb::Answer selected = TRY(gdb.run("-stack-info-frame"));
  if (!selected.good || selected.results["frame"]["level"].text != "0") return {};
  gdb::Answer answer = TRY(gdb.run(fmt::format("-stack-list-frames 0 {}", kMost)));
  for (const auto& [name, frame] : answer.results["stack"].items) {
    const std::string& source = frame["fullname"].text;
    if (source.empty() || access(source.c_str(), R_OK) != 0) continue;
    const std::string& level = frame["level"].text;
    if (level != "0") TRY(gdb.run("-stack-select-frame " + level));
    break;
  }
  return {};
}

}  // namespace pastcone::debug
