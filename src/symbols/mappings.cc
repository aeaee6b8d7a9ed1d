#include "pastcone/symbols/mappings.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>

namespace pastcone::symbols {
Path proc_of(pid_t process) {
  std::error_code error;
  auto has_memory = [&](const Path& place) {
    return !std::filesystem::read_symlink(place / "exe", error).empty();
  };
  Path own = fmt::format("/proc/{}", process);
  if (has_memory(own)) return own;
  for (const auto& thread : std::filesystem::directory_iterator(own / "task", error))
    if (has_memory(thread.path())) return thread.path();
  return own;
}

Result<std::string> read_maps(pid_t process) { return read_file(proc_of(process) / "maps"); }

std::vector<Mapping> parse_mappings(std::string_view proc_maps) {
  std::vector<Mapping> result;
  while (!proc_maps.empty()) {
    std::string line(proc_maps.substr(0, proc_maps.find('\n')));
    proc_maps.remove_prefix(std::min(proc_maps.size(), line.size() + 1));
    Mapping mapping;
    char flags[5] = "";
    int path = 0;  // where the rest of the line begins
    uint64_t major = 0, minor = 0;
    if (std::sscanf(line.c_str(),
                    "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx64 ":%" SCNx64 " %" SCNu64 " %n",
                    &mapping.start, &mapping.end, flags, &mapping.offset, &major, &minor,
                    &mapping.object.second, &path) != 7) {
      continue;
    }
    mapping.object.first = major << 32 | minor;
    mapping.readable = flags[0] == 'r';
    mapping.writable = flags[1] == 'w';
    mapping.executable = flags[2] == 'x';
    mapping.shared = flags[3] == 's';
    std::string name = path > 0 ? line.substr(static_cast<size_t>(path)) : "";
    mapping.of_kernel = name.starts_with("[v");
    if (name.starts_with('/')) mapping.file = name;
    result.push_back(std::move(mapping));
  }
  return result;
}

}  // namespace pastcone::symbols
