#include "pastcone/record/file_keeper.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "pastcone/trace/file_names.h"

namespace pastcone::record {
namespace {

using stage::FileSlot;
using stage::FileState;

/// A larger file that cannot be cloned is noted by its hash alone, unless it is code: copying it would take
/// too long.
constexpr uint64_t kCopyLimit = uint64_t{1} << 30;

bool is_state(const FileSlot& slot, FileState state) {
  return load(slot.state) == static_cast<uint32_t>(state);
}

struct OpenFile {
  UniqueFd fd;
  Path path;
};

/// The file of a request: through the process that has it open, which works for deleted and renamed ones;
/// else by its path.
Result<OpenFile> open_requested(const FileSlot& slot) {
  std::string link = fmt::format("/proc/{}/fd/{}", slot.pid, slot.fd);
  auto named = std::string(slot.path, strnlen(slot.path, sizeof slot.path));
  auto fd = open_file(link, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd) {
    std::error_code error;
    Path target = std::filesystem::read_symlink(link, error);
    return OpenFile{*std::move(fd), error ? Path(named) : target};
  }
  if (named.empty() || named[0] != '/') return tl::unexpected(fd.error());
  return OpenFile{TRY(open_file(named, O_RDONLY | O_NONBLOCK | O_NOCTTY)), named};
}

}  // namespace

bool belongs_to_system(const Path& path, const struct stat& info) {
  constexpr std::array<std::string_view, 4> kFolders = {"/usr/", "/lib", "/bin/", "/sbin/"};
  if (info.st_uid != 0 || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 || !S_ISREG(info.st_mode)) return false;
  std::string_view name = path.native();
  if (name.ends_with(" (deleted)") || name.starts_with("/usr/local/")) return false;
  return std::any_of(kFolders.begin(), kFolders.end(), [&](auto folder) { return name.starts_with(folder); });
}

Result<FileKeeper> FileKeeper::create(const SharedStage& stage, const Path& recording, PatchCache patches,
                                      bool patch, Breathe breathe) {
  Path cache = TRY(cache_directory());
  TRY_STATUS(make_directories(cache, 0755));
  if (patch) TRY_STATUS(patches.prepare());
  TRY_STATUS(make_directories(recording / kFilesFolder));
  FileTableWriter table = TRY(FileTableWriter::open(recording));
  return FileKeeper(stage, recording, cache, std::move(patches), patch, std::move(table), std::move(breathe));
}

FileKeeper::FileKeeper(const SharedStage& stage, const Path& recording, const Path& cache, PatchCache patches,
                       bool patch, FileTableWriter table, Breathe breathe)
    : stage_(stage),
      directory_(recording),
      hashes_(cache),
      patches_(std::move(patches)),
      patch_(patch),
      table_(std::move(table)),
      breathe_(std::move(breathe)) {}

bool FileKeeper::serve() {
  uint32_t requests = load(stage_.header().file_requests);
  if (std::exchange(seen_requests_, requests) == requests) return false;
  bool served = false;
  for (uint32_t id : requested()) {
    answer(id, stage_.view().file(id));
    served = true;
  }
  return served;
}

/// Ids are hashes, so the used slots lie anywhere in the table. Most of its pages were never touched, and the
/// kernel knows which.
std::vector<uint32_t> FileKeeper::requested() const {
  std::vector<uint32_t> ids;
  constexpr uint64_t kEnd = stage::kFilesAt + uint64_t{stage::kMaxFiles} * sizeof(FileSlot);
  for (uint64_t at = stage::kFilesAt; at < kEnd;) {
    off_t data = lseek(stage_.fd(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 || static_cast<uint64_t>(data) >= kEnd) break;
    off_t hole = lseek(stage_.fd(), data, SEEK_HOLE);
    uint64_t begin = static_cast<uint64_t>(data),
             end = hole < 0 ? kEnd : std::min<uint64_t>(static_cast<uint64_t>(hole), kEnd);
    for (uint64_t slot = (begin - stage::kFilesAt) / sizeof(FileSlot);; ++slot) {
      uint64_t state_at = stage::kFilesAt + slot * sizeof(FileSlot) + offsetof(FileSlot, state);
      if (state_at >= end || slot >= stage::kMaxFiles) break;
      auto id = static_cast<uint32_t>(slot + 1);
      if (state_at >= begin && is_state(stage_.view().file(id), FileState::kRequested)) ids.push_back(id);
    }
    at = end;
  }
  return ids;
}

void FileKeeper::answer(uint32_t id, FileSlot& slot) {
  Result<FileEntry> entry = describe(id, slot);
  if (!entry) note_trouble(entry.error());
  if (entry) {
    // In the table before anybody can refer to it.
    if (Status written = table_.append(*entry); !written) note_trouble(written.error());
    slot.patched = 0;
    std::from_chars(entry->patched.data(), entry->patched.data() + entry->patched.size(), slot.patched, 16);
    slot.given = (entry->kept ? stage::kFileKept : stage::kFileReference) |
                 (slot.patched != 0 ? stage::kFilePatched : 0);
  }
  store(slot.state, static_cast<uint32_t>(FileState::kReady));
  bump_and_wake(slot.futex);
}

Result<FileEntry> FileKeeper::describe(uint32_t id, const FileSlot& slot) {
  OpenFile file = TRY(open_requested(slot));
  bool code = (slot.wanted & stage::kWantCode) != 0;
  auto known = entries_.find(id);  // asked for before, and now for its code
  if (known == entries_.end()) {
    known = entries_.emplace(id, TRY(examine(id, file.fd.get(), file.path, code))).first;
  }
  FileEntry& entry = known->second;
  if (code && patch_ && entry.patched.empty()) add_patched(file.fd.get(), entry);
  return entry;
}

Result<FileEntry> FileKeeper::examine(uint32_t id, int fd, const Path& path, bool code) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return fail("cannot read {}: {}", path.native(), errno_message(errno));
  if (!S_ISREG(info.st_mode)) return fail("cannot keep {}: it is not a regular file", path.native());
  FileEntry entry;
  entry.id = id;
  entry.path = path.native();
  entry.size = static_cast<uint64_t>(info.st_size);
  entry.mtime_ns = to_ns(info.st_mtim);
  bool large = entry.size > kCopyLimit || (entry.size >= stage::kLargeFile && (info.st_mode & 0222) == 0);
  if (!belongs_to_system(path, info) && (!large || code)) {
    auto kept = keep(id, fd, path);
    if (kept) {
      entry.hash = to_hex(kept->hash);
      entry.size = kept->size;
      entry.kept = fmt::format("{}/{}", kFilesFolder, id);
      return entry;
    }
    note_trouble(kept.error());  // a full disk; replay then needs the file itself
  }
  entry.hash = to_hex(TRY(hash_of(fd, path, info)));
  return entry;
}

Result<Digest> FileKeeper::keep(uint32_t id, int fd, const Path& path) {
  Path copy = directory_ / kFilesFolder / std::to_string(id);
  UniqueFd to = TRY(open_file(copy, O_RDWR | O_CREAT | O_TRUNC));
  auto digest = copy_file(fd, to.get(), path, breathe_);
  if (!digest) {
    unlink(copy.c_str());
    return digest;
  }
  kept_bytes_ += digest->size;
  return digest;
}

Result<uint64_t> FileKeeper::hash_of(int fd, const Path& path, const struct stat& info) {
  if (auto known = hashes_.find(info)) return *known;
  uint64_t hash = TRY(digest_file(fd, path, breathe_)).hash;
  hashes_.add(info, hash);
  return hash;
}

void FileKeeper::add_patched(int fd, FileEntry& entry) {
  uint64_t hash = 0;
  std::from_chars(entry.hash.data(), entry.hash.data() + entry.hash.size(), hash, 16);
  auto name = patches_.get(fmt::format("/proc/self/fd/{}", fd), hash);
  if (!name) return note_trouble(name.error());  // without a copy its calls go through the net
  if (*name != 0) entry.patched = to_hex(*name);
}

void FileKeeper::note_trouble(const Error& error) {
  if (trouble_.empty()) trouble_ = error.message;
}

}  // namespace pastcone::record
