#include "pastcone/replay/indexing.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "pastcone/replay/director.h"
#include "pastcone/trace/file_names.h"

namespace pastcone::replay {
namespace {

namespace fs = std::filesystem;

/// Gone with its files when it goes out of scope.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> create() {
    const char* wanted = std::getenv("TMPDIR");
    std::string name =
        std::string(wanted != nullptr && wanted[0] == '/' ? wanted : "/tmp") + "/pastcone-index-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      return fail("cannot create {}: {}; set TMPDIR to a directory with room", name, errno_message(errno));
    }
    return TemporaryDirectory(name);
  }
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const Path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(Path path) : path_(std::move(path)) {}
  Path path_;
};

/// Which recording it is, and how much of it there is.
std::string identity_of(const Recording& recording) {
  uint64_t bytes = 0;
  for (const auto& [thread, streams] : recording.threads())
    bytes += streams.events.bytes + streams.locks.bytes;
  return fmt::format("{} {}", recording.manifest().id, bytes);
}

Path index_path(const Recording& recording) { return recording.directory() / kObjectsName; }

/// "3.2"
std::optional<ThreadId> thread_of(const std::string& name) {
  uint32_t process = 0, thread = 0;
  const char* end = name.data() + name.size();
  auto [dot, error] = std::from_chars(name.data(), end, process);
  if (error != std::errc() || dot == end || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, end, thread).ptr != end) return std::nullopt;
  return ThreadId(ProcessId(process), thread);
}

Result<std::vector<ThreadEntries>> read_entries(const Path& directory) {
  std::vector<ThreadEntries> threads;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; entry != end && !error; entry.increment(error)) {
    auto thread = thread_of(entry->path().filename().native());
    if (!thread) continue;
    MappedFile file = TRY(MappedFile::open(entry->path()));
    ThreadEntries& entries = threads.emplace_back(ThreadEntries{*thread, {}});
    ByteView bytes = file.bytes();
    for (; bytes.size() >= sizeof(stage::IndexEntry); bytes = bytes.subspan(sizeof(stage::IndexEntry))) {
      stage::IndexEntry next;
      std::memcpy(&next, bytes.data(), sizeof next);
      if (next.stamp == 0) break;
      entries.entries.push_back(next);
    }
  }
  if (error) return fail("cannot read {}: {}", directory.native(), error.message());
  return threads;
}

struct Index {
  std::vector<ThreadEntries> threads;
  std::string divergence;
};

Result<Index> index(const Recording& recording) {
  TemporaryDirectory directory = TRY(TemporaryDirectory::create());
  ReplayOutcome outcome =
      TRY(replay(recording, {.show_output = false, .index_directory = directory.path().native()}));
  if (outcome.interrupted) return fail("interrupted");
  return Index{TRY(read_entries(directory.path())),
               outcome.divergences.empty() ? "" : to_string(outcome.divergences.front())};
}

void keep(const std::vector<ObjectHistory>& objects, const Recording& recording) {
  Bytes bytes = pack_objects(objects, identity_of(recording));
  (void)write_file_atomic(index_path(recording), as_text(bytes));  // else it is made again next time
}

}  // namespace

std::optional<std::vector<ObjectHistory>> known_objects(const Recording& recording) {
  auto file = read_file(index_path(recording));
  if (!file) return std::nullopt;
  auto objects = unpack_objects(as_bytes(*file), identity_of(recording));
  if (!objects) return std::nullopt;
  return *std::move(objects);
}

Result<IndexedObjects> index_objects(const Recording& recording) {
  if (auto known = known_objects(recording)) return IndexedObjects{*std::move(known), {}};
  auto [entries, divergence] = TRY(index(recording));
  IndexedObjects found{merge_entries(entries), divergence};
  if (divergence.empty()) keep(found.objects, recording);
  return found;
}

Result<IndexedFacts> index_facts(const Recording& recording) {
  auto [threads, divergence] = TRY(index(recording));
  if (divergence.empty()) keep(merge_entries(threads), recording);
  IndexedFacts found{{}, divergence};
  for (const ThreadEntries& thread : threads) {
    for (const stage::IndexEntry& entry : thread.entries) {
      if ((entry.flags & stage::kIndexFact) != 0) found.facts.push_back({thread.thread, entry});
    }
  }
  std::ranges::sort(found.facts, {}, [](const IndexedFacts::Fact& fact) { return fact.entry.stamp; });
  return found;
}

}  // namespace pastcone::replay
