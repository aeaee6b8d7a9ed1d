#include "pastcone/replay/indexing.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>

#include "pastcone/replay/director.h"
#include "pastcone/replay/temporary_directory.h"
#include "pastcone/replay/unwind_tables.h"
#include "pastcone/stage/where.h"
#include "pastcone/symbols/origins.h"
#include "pastcone/trace/file_names.h"

namespace pastcone::replay {
namespace {

namespace fs = std::filesystem;

/// Which recording it is, and how much of it there is.
std::string identity_of(const Recording& recording) {
  uint64_t bytes = 0;
  for (const auto& [thread, streams] : recording.threads())
    bytes += streams.events.bytes + streams.locks.bytes;
  return fmt::format("{} {}", recording.manifest().id, bytes);
}

Path index_path(const Recording& recording) { return recording.directory() / kObjectsName; }

/// "3.2", with `end` behind it
std::optional<ThreadId> thread_of(std::string name, std::string_view ending = "") {
  if (!name.ends_with(ending)) return std::nullopt;
  name.resize(name.size() - ending.size());
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

/// What a place in a patched file's trampolines stands for.
class Originals {
 public:
  explicit Originals(const Path& directory) : directory_(directory) {}

  uint64_t operator()(uint64_t place) {
    auto file = static_cast<uint32_t>(place >> stage::kPlaceFileAt);
    auto [known, is_new] = files_.try_emplace(file);
    if (is_new) known->second = symbols::Origins::read(patched_name(directory_, file));
    if (!known->second) return place;
    auto offset = known->second->original(place & stage::kPlaceOffset);
    return offset ? uint64_t{file} << stage::kPlaceFileAt | *offset : place;
  }

 private:
  Path directory_;
  std::map<uint32_t, std::optional<symbols::Origins>> files_;
};

Result<WhereIndex> read_places(const Path& directory) {
  WhereIndex places;
  Originals originals(directory);
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; entry != end && !error; entry.increment(error)) {
    auto thread = thread_of(entry->path().filename().native(), ".where");
    if (!thread) continue;
    MappedFile file = TRY(MappedFile::open(entry->path()));
    places.add(*thread, file.bytes(), std::ref(originals));
  }
  if (error) return fail("cannot read {}: {}", directory.native(), error.message());
  return places;
}

struct Index {
  std::vector<ThreadEntries> threads;
  WhereIndex places;
  std::string divergence;
};

struct Wanted {
  bool uses = true, places = false;
  std::function<bool()> interrupted = {};
  std::function<void(const Live&)> on_wait = {};
};

Result<Index> index(const Recording& recording, Wanted wanted) {
  TemporaryDirectory directory = TRY(TemporaryDirectory::create("pastcone-index-"));
  ReplayOutcome outcome = TRY(replay(recording, {.show_output = false,
                                                 .index_directory = directory.path().native(),
                                                 .note_uses = wanted.uses,
                                                 .note_places = wanted.places,
                                                 .interrupted = wanted.interrupted,
                                                 .on_wait = wanted.on_wait}));
  if (outcome.interrupted) {
    { TemporaryDirectory gone = std::move(directory); }
    if (outcome.signal != 0) raise(outcome.signal);  // does what it would have done; there is nothing left to tidy up
    return fail("interrupted");
  }
  Index found;
  if (wanted.uses) found.threads = TRY(read_entries(directory.path()));
  if (wanted.places) found.places = TRY(read_places(directory.path()));
  if (!outcome.divergences.empty()) found.divergence = to_string(outcome.divergences.front());
  return found;
}

void keep(const std::vector<ObjectHistory>& objects, const Recording& recording) {
  Bytes bytes = pack_objects(objects, identity_of(recording));
  (void)write_file_atomic(index_path(recording), as_text(bytes));  // else it is made again next time
}

void keep(const WhereIndex& places, const Recording& recording) {
  Bytes bytes = places.pack(identity_of(recording));
  (void)write_file_atomic(recording.directory() / kWhereName, as_text(bytes));
}

}  // namespace

std::optional<WhereIndex> known_places(const Recording& recording) {
  auto file = MappedFile::open(recording.directory() / kWhereName);
  if (!file) return std::nullopt;
  auto places = WhereIndex::unpack(file->bytes(), identity_of(recording));
  if (!places) return std::nullopt;
  return *std::move(places);
}

std::optional<std::vector<ObjectHistory>> known_objects(const Recording& recording) {
  auto file = read_file(index_path(recording));
  if (!file) return std::nullopt;
  auto objects = unpack_objects(as_bytes(*file), identity_of(recording));
  if (!objects) return std::nullopt;
  return *std::move(objects);
}

Result<IndexedObjects> index_objects(const Recording& recording) {
  if (auto known = known_objects(recording)) return IndexedObjects{*std::move(known), {}};
  auto [entries, places, divergence] = TRY(index(recording, {}));
  IndexedObjects found{merge_entries(entries), divergence};
  drop_hidden(found.objects);
  if (divergence.empty()) keep(found.objects, recording);
  return found;
}

Result<IndexedPlaces> index_places(const Recording& recording) {
  if (auto known = known_places(recording)) return IndexedPlaces{*std::move(known), {}};
  auto [entries, places, divergence] = TRY(index(recording, {.uses = false, .places = true}));
  if (divergence.empty()) keep(places, recording);
  return IndexedPlaces{std::move(places), std::move(divergence)};
}

Result<IndexedFacts> index_facts(const Recording& recording, bool with_places,
                                 std::function<bool()> interrupted, std::function<void(const Live&)> on_wait) {
  bool wanted = with_places && !known_places(recording);
  auto [threads, places, divergence] = TRY(
      index(recording, {.uses = true, .places = wanted, .interrupted = std::move(interrupted), .on_wait = std::move(on_wait)}));
  IndexedFacts found{{}, merge_entries(threads), divergence};
  if (divergence.empty()) {
    std::vector<ObjectHistory> listed = found.objects;
    drop_hidden(listed);
    keep(listed, recording);
  }
  if (divergence.empty() && wanted) keep(places, recording);
  for (const ThreadEntries& thread : threads) {
    for (const stage::IndexEntry& entry : thread.entries) {
      if ((entry.flags & stage::kIndexFact) != 0) found.facts.push_back({thread.thread, entry});
    }
  }
  std::ranges::sort(found.facts, {}, [](const IndexedFacts::Fact& fact) { return fact.entry.stamp; });
  return found;
}

}  // namespace pastcone::replay
