#include "pastcone/debug/source_frame.h"

#include <unistd.h>

#include <cstdlib>

namespace pastcone::debug {
namespace {

constexpr int kMost = 16;  // frames of libraries between a call and the program

}  // namespace

Result<std::optional<SourceFrame>> find_source_frame(gdb::Gdb& gdb) {
  gdb::Answer answer = TRY(gdb.run(fmt::format("-stack-list-frames --no-frame-filters 0 {}", kMost)));
  for (const auto& [name, frame] : answer.results["stack"].items) {
    const std::string& source = frame["fullname"].text;
    if (source.empty() || access(source.c_str(), R_OK) != 0) continue;
    return SourceFrame{std::atoi(frame["level"].text.c_str()), frame["line"].text, frame["addr"].text};
  }
  return std::nullopt;
}

Status select_source_frame(gdb::Gdb& gdb) {
  gdb::Answer selected = TRY(gdb.run("-stack-info-frame"));
  if (!selected.good || selected.results["frame"]["level"].text != "0") return {};
  std::optional<SourceFrame> found = TRY(find_source_frame(gdb));
  if (found && found->level > 0) TRY(gdb.run(fmt::format("-stack-select-frame {}", found->level)));
  return {};
}

}  // namespace pastcone::debug
