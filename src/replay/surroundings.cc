#include "pastcone/replay/surroundings.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

#include "pastcone/base/own_directories.h"
#include "pastcone/record/digest.h"
#include "pastcone/record/new_recording.h"

namespace pastcone::replay {
namespace {

using stage::FileSlot;
using stage::FileState;

/// Of the flags in /proc/cpuinfo, those that stand for instructions a program may use, by how they begin. The
/// others tell about virtualisation, mitigations or the kernel.
constexpr std::array<std::string_view, 45> kInstructions = {
    "3dnow", "abm",    "adx",       "aes",   "amx",    "avx",        "bmi",     "cldemote",  "clflush",
    "clwb",  "clzero", "cmov",      "cx16",  "cx8",    "erms",       "f16c",    "fma",       "fsgsbase",
    "fsrm",  "gfni",   "hle",       "lahf",  "mmx",    "movbe",      "movdir",  "pclmulqdq", "pku",
    "pni",   "popcnt", "prefetchw", "rdpid", "rdrand", "rdseed",     "rdtscp",  "rtm",       "serialize",
    "sha",   "sse",    "ssse3",     "tbm",   "vaes",   "vpclmulqdq", "waitpkg", "xop",       "xsave"};

bool is_instruction(std::string_view flag) {
  return std::any_of(kInstructions.begin(), kInstructions.end(),
                     [&](auto name) { return flag.starts_with(name); });
}

tl::unexpected<Error> changed(const FileEntry& entry, std::string_view how) {
  return fail("cannot replay: {} {}; replay where it is as it was when this was recorded", entry.path, how);
}

Result<std::string> hash_of(const Path& path, const struct stat& info, record::HashCache& hashes) {
  if (auto known = hashes.find(info)) return record::to_hex(*known);
  UniqueFd fd = TRY(open_file(path, O_RDONLY));
  uint64_t hash = TRY(record::digest_file(fd.get(), path)).hash;
  hashes.add(info, hash);
  return record::to_hex(hash);
}

}  // namespace

std::vector<std::string> missing_abilities(const std::vector<std::string>& recorded,
                                           const std::vector<std::string>& now) {
  std::set<std::string_view> have(now.begin(), now.end());
  std::vector<std::string> missing;
  for (const std::string& flag : recorded) {
    if (is_instruction(flag) && !have.contains(flag)) missing.push_back(flag);
  }
  return missing;
}

Status check_processor(const Recording& recording) {
  if (recording.manifest().machine != "x86_64" && !recording.manifest().machine.empty()) {
    return fail("cannot replay: it was recorded on {}, this pastcone replays x86_64",
                recording.manifest().machine);
  }
  std::vector<std::string> missing = missing_abilities(recording.manifest().cpu, record::cpu_flags());
  if (missing.empty()) return {};
  return fail(
      "cannot replay: this processor lacks what the recorded run could use: {}; replay on one that has it",
      fmt::join(missing, " "));
}

Result<Path> find_file(const Recording& recording, const FileEntry& entry, record::HashCache& hashes) {
  Path path = entry.kept ? recording.directory() / *entry.kept : Path(entry.path);
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (!entry.kept) return changed(entry, fmt::format("cannot be read ({})", errno_message(errno)));
    return fail("the recording is damaged: its copy of {} cannot be read: {}", entry.path,
                errno_message(errno));
  }
  bool same_size = S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) == entry.size;
  if (entry.kept) {
    if (same_size && TRY(hash_of(path, info, hashes)) == entry.hash) return std::filesystem::absolute(path);
    return fail("the recording is damaged: its copy of {} has changed", entry.path);
  }
  if (!same_size) return changed(entry, "has another size than when it was recorded");
  if (record::to_ns(info.st_mtim) == entry.mtime_ns) return path;
  if (TRY(hash_of(path, info, hashes)) == entry.hash) return path;
  return changed(entry, "has changed since it was recorded");
}

Status fill_file_table(const Recording& recording, const stage::View& stage,
                       const record::PatchCache& patches) {
  Path cache = TRY(cache_directory());
  TRY_STATUS(make_cache_directories(cache));
  TRY_STATUS(patches.prepare());
  record::HashCache hashes(cache);
  for (const auto& [id, entry] : recording.files().entries()) {
    if (id > stage::kMaxFiles) return fail("the recording is damaged: it has a file {}", id);
    Path path = TRY(find_file(recording, entry, hashes));
    FileSlot& slot = stage.file(id);
    if (path.native().size() >= sizeof slot.path) {
      return fail("cannot replay: the path {} is too long; move the recording to a shorter one",
                  path.native());
    }
    std::strcpy(slot.path, path.c_str());
    slot.size = entry.size;
    slot.mtime_ns = static_cast<uint64_t>(entry.mtime_ns);
    slot.given = entry.kept ? stage::kFileKept : stage::kFileReference;
    if (!entry.patched.empty()) {
      // The name may be another than in the recording: another pastcone may patch otherwise, and the program
      // sees neither.
      uint64_t hash = 0;
      std::from_chars(entry.hash.data(), entry.hash.data() + entry.hash.size(), hash, 16);
      slot.patched = TRY(patches.get(path, hash));
      if (slot.patched != 0) slot.given |= stage::kFilePatched;
    }
    slot.state = static_cast<uint32_t>(FileState::kReady);
  }
  return {};
}

}  // namespace pastcone::replay
