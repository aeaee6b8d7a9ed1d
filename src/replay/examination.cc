#include "pastcone/replay/examination.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "pastcone/patch/abi.h"
#include "pastcone/record/digest.h"
#include "pastcone/symbols/symbols.h"

namespace pastcone::replay {
namespace {

using symbols::Location;
using symbols::Mapping;

/// The runtime's own code for breakpoints lies near the program's, and is not longer.
constexpr uint64_t kBreakpoints = 4096;

std::string where(const Recording& recording, const stage::View& stage, const stage::ProcessSlot& process,
                  pid_t tid, const std::vector<Mapping>& mappings) {
  symbols::Registers registers;
  std::ranges::copy(process.registers, registers.values);
  if (registers.values[symbols::Registers::kRip] == 0) return {};
  auto memory = open_file(fmt::format("/proc/{}/mem", tid), O_RDONLY);
  if (!memory) return {};
  auto read = [&](uint64_t address, uint64_t& word) {
    return pread(memory->get(), &word, sizeof word, static_cast<off_t>(address)) == sizeof word;
  };
  symbols::Symbols symbols(mappings, originals(recording, stage));
  std::vector<Location> calls;
  for (uint64_t address : symbols.unwind(registers, read)) {
    for (Location& each : symbols.locate_all(address)) calls.push_back(std::move(each));
  }
  return to_string(choose(calls));
}

}  // namespace

bool is_program(const Mapping& mapping) {
  constexpr uint64_t kItsOwnEnd = 0x300000000000;  // what it maps is above it
  return mapping.start < patch::kRuntimeBase || mapping.start >= kItsOwnEnd;
}

std::map<Path, Path> originals(const Recording& recording, const stage::View& stage) {
  std::map<Path, Path> result;
  Path patched = stage.header().patch_directory;
  for (const auto& [id, entry] : recording.files().entries()) {
    const stage::FileSlot& slot = stage.file(id);
    result[slot.path] = entry.path;
    if (slot.patched != 0) result[patched / record::to_hex(slot.patched)] = entry.path;
  }
  return result;
}

Examination examine(const Recording& recording, const stage::View& stage, const stage::ProcessSlot& process,
                    pid_t tid) {
  Examination result;
  result.facts.cause = static_cast<stage::Cause>(process.cause);
  result.facts.has_threads = process.thread_count > 1;
  auto maps = read_file(fmt::format("/proc/{}/maps", tid));
  if (!maps) return result;
  std::vector<Mapping> mappings = symbols::parse_mappings(*maps);
  std::erase_if(mappings, [](const Mapping& mapping) { return !is_program(mapping); });
  for (const Mapping& mapping : mappings) {
    bool generated = mapping.executable && mapping.file.empty() && !mapping.of_kernel;
    if (generated && mapping.end - mapping.start > kBreakpoints) result.facts.generated_code = true;
    if (mapping.shared && mapping.writable) result.facts.shares_memory = true;
  }
  result.where = where(recording, stage, process, tid, mappings);
  return result;
}

Path file_at(const Recording& recording, const stage::View& stage, pid_t tid, uint64_t address) {
  auto maps = read_file(fmt::format("/proc/{}/maps", tid));
  if (!maps) return {};
  std::map<Path, Path> known = originals(recording, stage);
  for (const Mapping& mapping : symbols::parse_mappings(*maps)) {
    if (address < mapping.start || address >= mapping.end) continue;
    auto found = known.find(mapping.file);
    return found != known.end() ? found->second : mapping.file;
  }
  return {};
}

}  // namespace pastcone::replay
