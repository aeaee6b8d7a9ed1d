#include "pastcone/graph/lock_edges.h"

#include <algorithm>
#include <map>

#include "pastcone/graph/steps.h"
#include "pastcone/graph/wakes.h"

namespace pastcone::graph {
namespace {

using causal::EdgeKind;
using stage::ObjectKind;

/// What the next use of an object has to wait for.
struct State {
  const Use* last_write = nullptr;
  std::map<ThreadId, const Use*> readers;  ///< since then; of each thread the one that ends last
};

class Finder {
 public:
  Finder(const Facts& facts, bool parallel) : facts_(facts), parallel_(parallel) {}

  LockEdges run() {
    for (uint32_t i = 0; i < facts_.objects.size(); ++i) add_object(facts_.objects[i], i);
    add_facts();
    return std::move(found_);
  }

 private:
  void add_object(const Object& object, uint32_t label);
  void add_uses(const Object& object, uint32_t label);
  void add_semaphore(const Object& object, uint32_t label);
  void add_barrier(const Object& object, uint32_t label);
  void add_facts();
  void add_meetings(const std::vector<const Fact*>& facts);
  void add_pages(const std::vector<const Fact*>& facts);

  /// Where it is given back; what never is, is had from there on.
  static const Place& end_of(const Use& use) { return use.until.point != 0 ? use.until : use.at; }
  static bool ends_later(const Use& a, const Use& b) { return end_of(a).point > end_of(b).point; }

  void add(Place from, Place to, EdgeKind kind, uint32_t label) {
    if (from.thread == to.thread) return;
    found_.edges.push_back({whole(from), whole(to), kind, label});
  }
  /// From where it is given back.
  void add_next(const Use& use, const Place& to, EdgeKind kind, uint32_t label) {
    size_t before = found_.edges.size();
    add(end_of(use), to, kind, label);
    if (found_.edges.size() == before || use.until.thread != use.at.thread) return;
    found_.edges.back().since_step = use.at.step;
    found_.edges.back().since_point = use.at.point;
  }
  Place whole(Place place) const {
    if (!parallel_) place = {place.thread, place.step | 1, 0};
    return place;
  }

  const Facts& facts_;
  bool parallel_;
  LockEdges found_;
};

void Finder::add_object(const Object& object, uint32_t label) {
  switch (object.kind) {
    case ObjectKind::kSemaphore:
      return add_semaphore(object, label);
    case ObjectKind::kBarrier:
      return add_barrier(object, label);
    default:
      return add_uses(object, label);
  }
}

/// A write comes after all reads since the last write, a read after that.
void Finder::add_uses(const Object& object, uint32_t label) {
  bool heap = object.kind == ObjectKind::kHeap;
  EdgeKind kind = heap ? EdgeKind::kHandOver : EdgeKind::kObject;
  if (heap) label = causal::kNone;
  State state;
  for (const Use& use : object.uses) {
    if (!use.write || state.readers.empty()) {
      if (state.last_write != nullptr) add_next(*state.last_write, use.at, kind, label);
    } else {
      for (const auto& [thread, read] : state.readers) add_next(*read, use.at, kind, label);
    }
    if (use.write) {
      state.readers.clear();
      state.last_write = &use;
    } else {
      const Use*& mine = state.readers[use.at.thread];
      if (mine == nullptr || ends_later(use, *mine)) mine = &use;
    }
  }
}

/// Posts and waits are in one order. If it began with 0 it is there to wait for others, and each wait had to
/// come after the post that it took; else for keeping them apart, and who came first was open.
void Finder::add_semaphore(const Object& object, uint32_t label) {
  std::vector<const Use*> posts;
  size_t waits = 0;
  const Use* last = nullptr;
  for (const Use& use : object.uses) {
    if (last != nullptr) add(last->at, use.at, EdgeKind::kObject, label);
    last = &use;
    if (use.gives) {
      posts.push_back(&use);
    } else {
      if (use.writes == 0 && waits < posts.size()) add(posts[waits]->at, use.at, EdgeKind::kCondition, label);
      ++waits;
    }
  }
}

void Finder::add_barrier(const Object& object, uint32_t label) {
  const Use* last = nullptr;
  std::map<ThreadId, const Use*> left;
  for (const Use& use : object.uses) {
    if (!use.write) {  // it is destroyed, when all have gone
      for (const auto& [thread, each] : left) add(end_of(*each), use.at, EdgeKind::kBarrier, label);
      continue;
    }
    if (last != nullptr) add(last->at, use.at, EdgeKind::kHandOver, causal::kNone);
    if (last == nullptr || last->writes != use.writes) found_.meetings.push_back({label, {}, {}});
    LockMeeting& meeting = found_.meetings.back();
    meeting.arrivals.push_back(use.at);
    if (use.until.point != 0) meeting.departures.push_back(use.until);
    left[use.at.thread] = last = &use;
  }
}

void Finder::add_facts() {
  std::map<uint64_t, std::vector<const Fact*>> meetings, pages;
  for (const Fact& fact : facts_.list) {
    if (fact.kind == FactKind::kMet) meetings[fact.key].push_back(&fact);
    if (fact.kind == FactKind::kPagesThere || fact.kind == FactKind::kPagesAwaited)
      pages[fact.key].push_back(&fact);
    if (fact.kind == FactKind::kJoined) {
      ThreadId ended(fact.thread.process(), static_cast<uint32_t>(fact.key));
      add({ended, 0, kItsEnd}, fact.place(), EdgeKind::kJoin, causal::kNone);
    }
  }
  for (const auto& [object, list] : meetings) add_meetings(list);
  for (const auto& [memory, list] : pages) add_pages(list);
}

/// They are told of on entering the event.
void Finder::add_meetings(const std::vector<const Fact*>& facts) {
  std::vector<const Fact*> all = facts;
  std::ranges::sort(all, {}, &Fact::number);
  for (size_t i = 1; i < all.size(); ++i) {
    const Fact &from = *all[i - 1], &to = *all[i];
    add({from.thread, from.step + 1, 0}, {to.thread, to.step + 1, 0}, EdgeKind::kObject, causal::kNone);
  }
}

void Finder::add_pages(const std::vector<const Fact*>& facts) {
  auto leaves = [](const Fact& fact) { return Place{fact.thread, leaving(fact.event), 0}; };
  for (const Fact* awaited : facts) {
    if (awaited->kind != FactKind::kPagesAwaited) continue;
    auto there = std::ranges::find_if(facts, [&](const Fact* fact) {
      return fact->kind == FactKind::kPagesThere && fact->number >= awaited->number;
    });
    if (there != facts.end()) add(leaves(**there), leaves(*awaited), EdgeKind::kHandOver, causal::kNone);
  }
}

}  // namespace

LockEdges find_lock_edges(const Facts& facts, bool parallel) {
  LockEdges found = Finder(facts, parallel).run();
  if (parallel) add_wakes(facts, found);
  return found;
}

}  // namespace pastcone::graph
