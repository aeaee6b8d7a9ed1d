#include "pastcone/symbols/mappings.h"

#include <fcntl.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>

namespace pastcone::symbols {
namespace {

std::vector<Path> files_of_threads(pid_t process, const char* name) {
  std::vector<Path> files = {fmt::format("/proc/{}/{}", process, name)};
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), ignored))
    files.push_back(thread.path() / name);
  return files;
}

}  // namespace

Result<std::string> read_maps(pid_t process) {
  Result<std::string> first = read_file(fmt::format("/proc/{}/maps", process));
  if (!first || !first->empty()) return first;
  for (const Path& file : files_of_threads(process, "maps"))
    if (auto maps = read_file(file); maps && !maps->empty()) return maps;
  return first;
}

Result<UniqueFd> open_memory(pid_t process) {
  Result<UniqueFd> first = open_file(fmt::format("/proc/{}/mem", process), O_RDWR | O_CLOEXEC);
  if (first) return first;
  for (const Path& file : files_of_threads(process, "mem"))
    if (auto memory = open_file(file, O_RDWR | O_CLOEXEC)) return memory;
  return first;
}

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
