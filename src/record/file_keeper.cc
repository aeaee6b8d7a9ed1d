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

#include "pastcone/base/own_directories.h"
#include "pastcone/record/new_recording.h"
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
  TRY_STATUS(make_cache_directories(cache));
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
      breathe_(std::move(breathe)),
      started_ns_(now_ns()),
      leases_(stage.header().activity) {}

bool FileKeeper::serve() {
  std::vector<uint32_t> wanted = leases_.wanted();
  for (uint32_t id : wanted) give_up(id);
  uint32_t requests = load(stage_.header().file_requests);
  bool served = !wanted.empty();
  if (std::exchange(seen_requests_, requests) == requests) return served;
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
  if (entry && entry->id != 0) {
    write(*entry);  // before anybody can refer to it
    slot.patched = 0;
    std::from_chars(entry->patched.data(), entry->patched.data() + entry->patched.size(), slot.patched, 16);
    bool steady = !entry->kept || leases_.held().contains(id);
    slot.given = (entry->kept ? stage::kFileKept : stage::kFileReference) |
                 (steady ? stage::kFileSteady : 0) | (slot.patched != 0 ? stage::kFilePatched : 0);
  }
  store(slot.state, static_cast<uint32_t>(FileState::kReady));
  bump_and_wake(slot.futex);
}

Result<FileEntry> FileKeeper::describe(uint32_t id, const FileSlot& slot) {
  OpenFile file = TRY(open_requested(slot));
  bool code = (slot.wanted & stage::kWantCode) != 0;
  auto known = entries_.find(id);  // asked for before, and now for its code
  if (known == entries_.end()) {
    FileEntry entry = TRY(examine(id, file.fd.get(), file.path, slot.wanted));
    if (entry.id == 0) return entry;
    known = entries_.emplace(id, std::move(entry)).first;
  }
  FileEntry& entry = known->second;
  if (code && leases_.held().contains(id) && !entry.kept) {  // programs are rebuilt
    if (Status kept = keep(entry, file.fd.get()); !kept) note_trouble(kept.error());
  }
  if (code && patch_ && entry.patched.empty()) add_patched(file.fd.get(), entry);
  return entry;
}

/// An entry without an id: it is only read, and that has to be stored.
Result<FileEntry> FileKeeper::examine(uint32_t id, int fd, const Path& path, uint32_t wanted) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return fail("cannot read {}: {}", path.native(), errno_message(errno));
  if (!S_ISREG(info.st_mode)) return fail("cannot keep {}: it is not a regular file", path.native());
  FileEntry entry;
  entry.path = path.native();
  entry.size = static_cast<uint64_t>(info.st_size);
  entry.mtime_ns = to_ns(info.st_mtim);
  bool code = (wanted & stage::kWantCode) != 0, system = belongs_to_system(path, info);
  // What the run itself has made may be gone tomorrow.
  bool lasting = entry.size >= stage::kLargeFile && to_ns(info.st_ctim) < started_ns_;
  if (!system && !code && lasting && leases_.take(id, fd)) {
    entry.id = id;
    return entry;  // its hash is of interest at the end
  }
  if (!system && (wanted & (stage::kWantCode | stage::kWantData)) == 0) return entry;
  entry.id = id;
  if (!system && (entry.size <= kCopyLimit || code)) {
    Status kept = keep(entry, fd);
    if (kept) return entry;
    note_trouble(kept.error());  // a full disk; replay then needs the file itself
  }
  entry.hash = to_hex(TRY(hash_of(fd, path, info)));
  return entry;
}

Status FileKeeper::keep(FileEntry& entry, int fd) {
  std::string name = fmt::format("{}/{}", kFilesFolder, entry.id);
  Path copy = directory_ / name;
  UniqueFd to = TRY(open_file(copy, O_RDWR | O_CREAT | O_TRUNC));
  auto digest = copy_file(fd, to.get(), entry.path, breathe_);
  if (!digest) {
    unlink(copy.c_str());
    return tl::unexpected(digest.error());
  }
  entry.hash = to_hex(digest->hash);
  entry.size = digest->size;
  entry.kept = std::move(name);
  kept_bytes_ += digest->size;
  return {};
}

void FileKeeper::give_up(uint32_t id) {
  FileEntry& entry = entries_.at(id);
  FileSlot& slot = stage_.view().file(id);
  if (!entry.kept) {
    if (Status kept = keep(entry, leases_.held().at(id).fd.get()); !kept) note_trouble(kept.error());
    write(entry);
  }
  store(slot.given, slot.given | stage::kFileChanged);
  leases_.give_back(id);
}

void FileKeeper::finish() {
  for (const auto& [id, held] : leases_.held()) {
    FileEntry& entry = entries_.at(id);
    if (entry.kept) continue;
    if (Status done = conclude(entry, held); !done) note_trouble(done.error());
    write(entry);
  }
  leases_.give_back_all();
}

Status FileKeeper::conclude(FileEntry& entry, const ReadLeases::Held& held) {
  struct stat info {
  }, named{};
  if (fstat(held.fd.get(), &info) != 0) return fail("cannot read {}: {}", entry.path, errno_message(errno));
  if (!held.sure && to_ns(info.st_mtim) != entry.mtime_ns) {
    return fail("{} has changed while it was read: replay will need it as it was", entry.path);
  }
  entry.mtime_ns = to_ns(info.st_mtim);
  bool has_name =
      stat(entry.path.c_str(), &named) == 0 && named.st_dev == info.st_dev && named.st_ino == info.st_ino;
  if (!has_name) return keep(entry, held.fd.get());
  entry.hash = to_hex(TRY(hash_of(held.fd.get(), entry.path, info)));
  return {};
}

void FileKeeper::write(const FileEntry& entry) {
  if (Status written = table_.append(entry); !written) note_trouble(written.error());
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
