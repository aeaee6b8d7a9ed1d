#include "pastcone/replay/object_index.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "pastcone/replay/index_envelope.h"

namespace pastcone::replay {
namespace {

using stage::IndexEntry;

constexpr IndexKind kKind{"PCOBJIDX", 1, "list of objects"};

struct Entry {
  ThreadId thread;
  const IndexEntry* raw;
  Point until = {};
  ThreadId released_by = {};

  bool is(uint32_t flag) const { return (raw->flags & flag) != 0; }
};

/// A place in memory, where there may be several objects one after the other. Private memory belongs to a
/// process.
using Place = std::tuple<uint32_t, uint64_t, uint32_t>;  // process or 0, key, kind

Place place_of(const Entry& entry) {
  bool shared = (entry.raw->flags & stage::kIndexShared) != 0;
  return {shared ? 0 : entry.thread.process().number(), entry.raw->key, entry.raw->kind};
}

/// An object on its way into the list.
struct Found {
  ObjectHistory history;
  uint64_t first_stamp = 0;

  auto order() const {
    return std::tuple(history.kind == ObjectKind::kHeap, history.name.empty(),
                      history.accesses.front().thread, first_stamp);
  }
};

Found make_history(std::vector<Entry> accesses, std::string name) {
  auto is_read = [](const Entry& entry) {
    return (entry.raw->flags & (stage::kIndexWrite | stage::kIndexRelease)) == 0;
  };
  for (auto from = accesses.begin(); from != accesses.end();) {
    auto until = std::find_if_not(from, accesses.end(), is_read);
    std::stable_sort(from, until, [](const Entry& a, const Entry& b) { return a.thread < b.thread; });
    from = until == accesses.end() ? until : until + 1;
  }
  Found found;
  const IndexEntry& first = *accesses.front().raw;
  found.first_stamp = first.stamp;
  found.history.kind = static_cast<ObjectKind>(first.kind);
  found.history.shared = (first.flags & stage::kIndexShared) != 0;
  found.history.name = std::move(name);
  found.history.accesses.reserve(accesses.size());
  for (const Entry& entry : accesses) {
    const IndexEntry& raw = *entry.raw;
    found.history.accesses.push_back({entry.thread,
                                      !is_read(entry),
                                      raw.event,
                                      raw.caller,
                                      {raw.step, raw.point},
                                      entry.until,
                                      entry.released_by,
                                      raw.writes,
                                      entry.is(stage::kIndexGives)});
  }
  return found;
}

/// The last access that has no end yet, of this thread if there is one, ends here. False: there is none.
bool end_access(std::vector<Entry>& accesses, const Entry& release) {
  Entry* found = nullptr;
  for (size_t i = accesses.size(); i > 0; --i) {
    Entry& each = accesses[i - 1];
    if (each.until.number != 0) continue;
    if (each.thread == release.thread) {
      found = &each;
      break;
    }
    if (found == nullptr) found = &each;
    if (each.is(stage::kIndexWrite)) break;
  }
  if (found == nullptr) return false;
  found->until = {release.raw->step, release.raw->point};
  if (found->thread != release.thread) found->released_by = release.thread;
  return true;
}

/// Who finds that an initialisation is done does not count as one who does it.
bool only_looks(const Entry& entry) {
  return entry.raw->kind == static_cast<uint32_t>(ObjectKind::kOnce) && !entry.is(stage::kIndexWrite);
}

/// Takes the entries about one place, in order, apart: a number that does not go on is that of a new object.
void split_place(const std::vector<Entry>& entries, std::vector<Found>& into) {
  std::vector<Entry> accesses;
  std::string name, next_name;
  std::optional<uint64_t> last;
  std::optional<Entry> given_back;  // what was taken while the process had one thread, and nobody counted
  auto finish = [&] {
    if (!accesses.empty()) into.push_back(make_history(std::exchange(accesses, {}), std::move(name)));
    name = std::exchange(next_name, {});
    last.reset();
  };
  for (const Entry& entry : entries) {
    if (entry.raw->flags & stage::kIndexName) {
      next_name.assign(entry.raw->name, strnlen(entry.raw->name, sizeof entry.raw->name));
      continue;
    }
    if (entry.is(stage::kIndexRelease)) {
      given_back.reset();
      if (!end_access(accesses, entry)) given_back = entry;
      continue;
    }
    if (accesses.empty() || (last && entry.raw->number <= *last && !only_looks(entry))) finish();
    if (given_back && given_back->thread != entry.thread) {
      accesses.push_back(*given_back);
      accesses.back().until = {given_back->raw->step, given_back->raw->point};
    }
    given_back.reset();
    accesses.push_back(entry);
    accesses.back().until = {entry.raw->until_step, entry.raw->until_point};
    last = entry.raw->number;
  }
  finish();
}

}  // namespace

const char* kind_name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kMutex:
      return "mutex";
    case ObjectKind::kRwLock:
      return "rwlock";
    case ObjectKind::kSemaphore:
      return "semaphore";
    case ObjectKind::kSpinLock:
      return "spinlock";
    case ObjectKind::kNamed:
      return "object";
    case ObjectKind::kOnce:
      return "once";
    case ObjectKind::kBarrier:
      return "barrier";
    case ObjectKind::kLibrary:
      return "library lock";
    default:
      return "?";
  }
}

uint64_t ObjectHistory::hand_overs() const {
  uint64_t count = 0;
  for (size_t i = 1; i < accesses.size(); ++i) count += accesses[i].thread != accesses[i - 1].thread;
  return count;
}

uint64_t ObjectHistory::threads() const {
  std::set<ThreadId> all;
  for (const Access& access : accesses) all.insert(access.thread);
  return all.size();
}

std::vector<ObjectHistory> merge_entries(const std::vector<ThreadEntries>& threads) {
  std::map<Place, std::vector<Entry>> places;
  for (const ThreadEntries& thread : threads) {
    for (const IndexEntry& raw : thread.entries) {
      if ((raw.flags & stage::kIndexFact) != 0) continue;
      Entry entry{thread.thread, &raw, {}, {}};
      places[place_of(entry)].push_back(entry);
    }
  }
  std::vector<Found> found;
  for (auto& [place, entries] : places) {
    std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.raw->stamp; });
    split_place(entries, found);
  }
  std::ranges::sort(found, {}, &Found::order);
  std::vector<ObjectHistory> objects;
  objects.reserve(found.size());
  for (Found& each : found) objects.push_back(std::move(each.history));
  return objects;
}

void drop_hidden(std::vector<ObjectHistory>& objects) {
  std::erase_if(objects, [](const ObjectHistory& object) { return object.kind == ObjectKind::kHeap; });
  for (ObjectHistory& object : objects) {
    bool counts_all = object.kind != ObjectKind::kOnce && object.kind != ObjectKind::kBarrier;
    if (!counts_all) std::erase_if(object.accesses, [](const Access& access) { return !access.write; });
  }
}

// --- bytes ------------------------------------------------------------------------------------------------
// In an envelope: the callers (varint count, u64 each); the objects: varint count; for each varint kind × 2 +
// shared, name (varint, text), varint count of accesses, for each varint process, varint thread × 2 + write,
// zigzag event less the one before in this object, varint caller's place in the list.

Bytes pack_objects(const std::vector<ObjectHistory>& objects, const std::string& recording) {
  std::map<uint64_t, uint64_t> callers;
  for (const ObjectHistory& object : objects) {
    for (const Access& access : object.accesses) callers.emplace(access.caller, 0);
  }
  ByteWriter body;
  body.varint(callers.size());
  for (uint64_t place = 0; auto& [caller, at] : callers) {
    at = place++;
    body.u64(caller);
  }
  body.varint(objects.size());
  for (const ObjectHistory& object : objects) {
    body.varint(static_cast<uint64_t>(object.kind) * 2 + object.shared);
    body.varint(object.name.size());
    body.bytes(as_bytes(object.name));
    body.varint(object.accesses.size());
    uint64_t event = 0;
    for (const Access& access : object.accesses) {
      body.varint(access.thread.process().number());
      body.varint(uint64_t{access.thread.number()} * 2 + access.write);
      body.zigzag(static_cast<int64_t>(access.event - event));
      body.varint(callers[access.caller]);
      event = access.event;
    }
  }
  return put_in_envelope(kKind, recording, body.view());
}

Result<std::vector<ObjectHistory>> unpack_objects(ByteView bytes, const std::string& recording) {
  ByteReader in(TRY(open_envelope(kKind, recording, bytes)));
  std::vector<uint64_t> callers;
  for (uint64_t count = in.varint(); count > 0 && !in.failed(); --count) callers.push_back(in.u64());
  std::vector<ObjectHistory> objects;
  for (uint64_t count = in.varint(); count > 0 && !in.failed(); --count) {
    ObjectHistory& object = objects.emplace_back();
    uint64_t head = in.varint();
    object.kind = static_cast<ObjectKind>(std::min(head / 2, static_cast<uint64_t>(ObjectKind::kCount)));
    object.shared = (head & 1) != 0;
    object.name = as_text(in.bytes(in.varint()));
    uint64_t event = 0;
    for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
      auto process = static_cast<uint32_t>(in.varint());
      uint64_t thread = in.varint();
      event += static_cast<uint64_t>(in.zigzag());
      uint64_t caller = in.varint();
      if (caller >= callers.size()) in.set_failed();
      if (in.failed()) break;
      object.accesses.push_back({ThreadId(ProcessId(process), static_cast<uint32_t>(thread / 2)),
                                 (thread & 1) != 0, event, callers[static_cast<size_t>(caller)]});
    }
    if (object.accesses.empty()) in.set_failed();
  }
  if (!in.at_end()) return fail("it is damaged");
  return objects;
}

}  // namespace pastcone::replay
