// Where pastcone-runtime is, and whether it is the one that was built with this tool.
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "pastcone/record/shared_stage.h"
#include "pastcone/stage/build_note.h"

namespace pastcone::record {
namespace {

template <typename T>
bool read_at(int fd, T& to, uint64_t offset) {
  return pread(fd, &to, sizeof to, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof to);
}

/// Whether these notes have ours, word for word.
bool has_build_note(int fd, uint64_t offset, uint64_t size) {
  constexpr uint64_t kMost = 4096;
  std::string notes(std::min(size, kMost), '\0');
  ssize_t got = pread(fd, notes.data(), notes.size(), static_cast<off_t>(offset));
  if (got < 0) return false;
  std::string_view wanted(reinterpret_cast<const char*>(&stage::kBuildNote), sizeof stage::kBuildNote);
  return std::string_view(notes.data(), static_cast<size_t>(got)).find(wanted) != std::string_view::npos;
}

bool is_of_this_build(int fd) {
  Elf64_Ehdr header{};
  if (!read_at(fd, header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(fd, segment, header.e_phoff + i * sizeof segment)) return false;
    if (segment.p_type == PT_NOTE && has_build_note(fd, segment.p_offset, segment.p_filesz)) return true;
  }
  return false;
}

Result<Path> look_for_runtime() {
  if (const char* given = std::getenv("PASTCONE_RUNTIME"); given != nullptr && given[0] == '/')
    return Path(given);
  std::error_code error;
  Path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail("cannot find pastcone's own files: {}; is /proc mounted?", error.message());
  Path directory = self.parent_path();
  for (Path candidate : {directory / "pastcone-runtime", directory / "../lib/pastcone/pastcone-runtime"}) {
    if (access(candidate.c_str(), X_OK) == 0) return std::filesystem::canonical(candidate, error);
  }
  return fail("cannot find pastcone-runtime beside {}; build or install pastcone again", self.native());
}

}  // namespace

Result<Path> find_runtime() {
  Path runtime = TRY(look_for_runtime());
  UniqueFd file = TRY(open_file(runtime, O_RDONLY));
  if (!is_of_this_build(file.get())) {
    return fail("pastcone and {} are of different builds; build or install pastcone again", runtime.native());
  }
  return runtime;
}

}  // namespace pastcone::record
