#include "pastcone/record/new_recording.h"

#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>

#include "pastcone/base/own_directories.h"

namespace pastcone::record {
namespace {

namespace fs = std::filesystem;

/// One more than the highest n of all "name-n" in the folder.
uint64_t next_number(const Path& folder, const std::string& name) {
  uint64_t highest = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string file = entry->path().filename().native();
    if (!file.starts_with(name + "-")) continue;
    uint64_t number = 0;
    const char* last = file.data() + file.size();
    auto parsed = std::from_chars(file.data() + name.size() + 1, last, number);
    if (parsed.ec == std::errc() && parsed.ptr == last) highest = std::max(highest, number);
  }
  return highest + 1;
}

Result<Path> make_numbered(std::string_view command) {
  Path folder = TRY(data_directory());
  TRY_STATUS(make_data_directories(folder));
  std::string name = Path(command).filename().native();
  for (uint64_t number = next_number(folder, name);; ++number) {
    Path path = folder / fmt::format("{}-{}", name, number);
    if (mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST)
      return fail("cannot create the recording {}: {}", path.native(), errno_message(errno));
  }
}

Result<Path> make_wanted(const Path& wanted) {
  std::error_code error;
  Path path = fs::absolute(wanted, error).lexically_normal();
  if (error) return fail("cannot create the recording {}: {}", wanted.native(), error.message());
  if (!path.has_filename()) path = path.parent_path();  // "dir/"
  if (fs::exists(path, error)) {
    if (!fs::is_directory(path, error)) {
      return fail("cannot record into {}: it is not a directory; give another -o", path.native());
    }
    if (!fs::is_empty(path, error) || error) {
      return fail("cannot record into {}: it is not empty; give another -o, or remove it", path.native());
    }
    if (chmod(path.c_str(), 0700) != 0) {
      return fail("cannot record into {}: {}", path.native(), errno_message(errno));
    }
    return path;
  }
  TRY_STATUS(make_directories(path));
  return path;
}

std::string random_id() {
  uint8_t bytes[8] = {};
  [[maybe_unused]] ssize_t ignored = getrandom(bytes, sizeof bytes, 0);
  std::string id;
  for (uint8_t byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

}  // namespace

Result<Path> make_recording_directory(const std::optional<Path>& wanted, std::string_view command) {
  return wanted ? make_wanted(*wanted) : make_numbered(command);
}

std::vector<std::string> cpu_flags() {
  std::vector<std::string> flags;
  auto text = read_file("/proc/cpuinfo");
  if (!text) return flags;
  size_t line = text->find("\nflags");
  if (line == std::string::npos) return flags;
  std::string_view rest(*text);
  rest = rest.substr(line + 1);
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), rest.find(':') + 1));
  while (!rest.empty()) {
    size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) flags.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return flags;
}

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Manifest describe_run(const std::vector<std::string>& command) {
  Manifest manifest;
  manifest.id = random_id();
  utsname system{};
  if (uname(&system) == 0) {
    manifest.host = system.nodename;
    manifest.kernel = fmt::format("{} {}", system.sysname, system.release);
    manifest.machine = system.machine;
  }
  manifest.cpu = cpu_flags();
  manifest.command = command;
  std::error_code error;
  manifest.cwd = fs::current_path(error).native();
  manifest.pastcone = PASTCONE_VERSION;
  manifest.started_ns = now_ns();
  manifest.state = Manifest::State::kRecording;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) manifest.open_files_limit = limit.rlim_cur;
  if (getrlimit(RLIMIT_STACK, &limit) == 0) manifest.stack_limit = limit.rlim_cur;
  return manifest;
}

}  // namespace pastcone::record
