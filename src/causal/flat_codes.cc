#include "pastcone/causal/flat_codes.h"

#include <algorithm>

namespace pastcone::causal {
namespace {

template <typename Number>
void put(NumberWriter& out, Number value, Number expected) {
  out.put(folded(static_cast<Number>(value - expected)));
}

template <typename Number>
Number get(NumberCursor& in, Number expected) {
  return static_cast<Number>(expected + unfolded(static_cast<Number>(in.get())));
}

/// The last of those that begin at `place` or before, which is the one that is not empty.
uint32_t owner_of(std::span<const uint32_t> first, size_t place) {
  auto after = std::ranges::upper_bound(first, place, {}, [](uint32_t each) -> size_t { return each; });
  return static_cast<uint32_t>(after - first.begin() - 1);
}

}  // namespace

// Groups: the events; what ranks are above the thread's way from the group before; the edges of each.
// ------------

void GroupCode::write(NumberWriter& out, size_t, std::span<const Group> groups) const {
  Group last{0, 0, 0, kNone};
  for (const Group& each : groups) {
    out.put(each.event - (each.thread == last.thread ? last.event : 0));
    last = each;
  }
  last = {0, 0, 0, kNone};
  for (const Group& each : groups) {
    bool same = each.thread == last.thread;
    out.put(each.rank - each.event - (same ? last.rank - last.event : 0));
    last = each;
  }
  uint32_t edge = 0;
  for (const Group& each : groups) {
    out.put(each.first_edge - edge);
    edge = each.first_edge;
  }
}

void GroupCode::set_threads(size_t from, std::span<Group> groups) const {
  uint32_t thread = owner_of(frame.first_group, from);
  for (size_t i = 0; i < groups.size(); ++i) {
    while (thread < frame.threads.size() && from + i >= frame.first_group[thread + 1]) ++thread;
    groups[i].thread = thread < frame.threads.size() ? thread : kNone;
  }
}

void GroupCode::clear(size_t from, std::span<Group> groups) const {
  set_threads(from, groups);
  for (Group& each : groups) each = {each.thread == kNone ? 0u : 1u, 1, 0, each.thread};
}

bool GroupCode::read(NumberCursor& in, size_t from, std::span<Group> groups) const {
  set_threads(from, groups);
  uint64_t event = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    uint32_t thread = groups[i].thread;
    if (i > 0 && thread != groups[i - 1].thread) event = 0;
    uint64_t step = in.get();
    if (thread == kNone ? step != 0 : step == 0 || step > frame.threads[thread].events - event) return false;
    event += step;
    groups[i].event = static_cast<uint32_t>(event);
  }
  uint64_t above = 0, edge = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0 && groups[i].thread != groups[i - 1].thread) above = 0;
    above += std::min<uint64_t>(in.get(), kNone);
    if (above + groups[i].event >= kNone) return false;
    groups[i].rank = static_cast<uint32_t>(above + groups[i].event);
  }
  for (Group& each : groups) {
    edge += std::min<uint64_t>(in.get(), kNone);
    bool any = each.thread == kNone || edge < frame.edges;  // each group has one
    if (edge > frame.edges || !any) return false;
    each.first_edge = static_cast<uint32_t>(edge);
  }
  return true;
}

// Kinds
// --------------------------------------------------------------------------------------------------------

void KindCode::write(NumberWriter& out, size_t, std::span<const uint8_t> kinds) const {
  for (uint8_t kind : kinds) out.put(kind);
}

bool KindCode::read(NumberCursor& in, size_t, std::span<uint8_t> kinds) const {
  for (uint8_t& kind : kinds) {
    uint64_t number = in.get();
    if (number >= kEdgeKinds) return false;
    kind = static_cast<uint8_t>(number);
  }
  return true;
}

// Edges: the threads they come from; the events; the groups, counted in their threads; the labels
// ----------------

EdgeCode::EdgeCode(const FlatFrame& frame, std::span<const uint8_t> kinds, std::shared_ptr<Pages> pages)
    : frame_(frame),
      kinds_(kinds),
      pages_(std::move(pages)),
      lasts_(std::max<size_t>(frame.threads.size(), 1) * kEdgeKinds) {}

EdgeCode::Last& EdgeCode::last(size_t place, const Edge& edge) {
  return lasts_[size_t{edge.from.thread} * kEdgeKinds + kinds_[place]];
}

void EdgeCode::forget(size_t from, std::span<const Edge> edges) {
  for (size_t i = 0; i < edges.size(); ++i) last(from + i, edges[i]) = {};
}

void EdgeCode::write(NumberWriter& out, size_t from, std::span<const Edge> edges) {
  for (const Edge& each : edges) out.put(each.from.thread);
  for (size_t i = 0; i < edges.size(); ++i) {
    uint32_t& event = last(from + i, edges[i]).event;
    put(out, edges[i].from.event, event);
    event = edges[i].from.event;
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    uint32_t& last_group = last(from + i, edges[i]).group;
    uint32_t before =
        edges[i].from_group == kNone ? 0 : edges[i].from_group - frame_.first_group[edges[i].from.thread] + 1;
    put(out, before, last_group);
    last_group = before;
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    uint32_t& label = last(from + i, edges[i]).label;
    put(out, edges[i].label, label);
    label = edges[i].label + 1;
  }
  forget(from, edges);
}

bool EdgeCode::read(NumberCursor& in, size_t from, std::span<Edge> edges) {
  if (pages_ != nullptr) pages_->need(from, edges.size());
  bool good = true;
  for (Edge& each : edges) {
    uint64_t thread = in.get();
    good &= thread < frame_.threads.size();
    each.from.thread = good ? static_cast<uint32_t>(thread) : 0;
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    uint32_t& event = last(from + i, edges[i]).event;
    edges[i].from.event = event = get(in, event);
    good &= frame_.there(edges[i].from);
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    uint32_t& last_group = last(from + i, edges[i]).group;
    uint32_t before = last_group = get(in, last_group);
    uint32_t first = frame_.first_group[edges[i].from.thread],
             end = frame_.first_group[edges[i].from.thread + 1];
    good &= before <= end - first;
    edges[i].from_group = before == 0 ? kNone : first + before - 1;
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    uint32_t& label = last(from + i, edges[i]).label;
    edges[i].label = get(in, label);
    label = edges[i].label + 1;
  }
  forget(from, edges);
  return good;
}

// Vectors: as they differ from the one before
// ---------------------------------------------------------------------

void VectorCode::write(NumberWriter& out, size_t, std::span<const uint32_t> entries) const {
  size_t width = frame.threads.size();
  for (size_t i = 0; i < entries.size(); ++i) put(out, entries[i], i < width ? 0 : entries[i - width]);
}

bool VectorCode::read(NumberCursor& in, size_t from, std::span<uint32_t> entries) const {
  size_t width = frame.threads.size(), thread = from % width;
  bool good = true;
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = get(in, i < width ? 0 : entries[i - width]);
    good &= entries[i] <= frame.threads[thread].events;
    if (++thread == width) thread = 0;
  }
  return good;
}

// Transfers: positions and lengths; the threads; the events
// -------------------------------------------------------

TransferCode::TransferCode(const FlatFrame& frame, std::span<const uint32_t> first)
    : frame_(frame), first_(first), last_events_(frame.threads.size() + 1, 0) {}

void TransferCode::write(NumberWriter& out, size_t, std::span<const Transfer> transfers) {
  uint64_t position = 0;
  uint32_t channel = kNone, length = 0;
  for (const Transfer& each : transfers) {
    put(out, each.begin, each.channel == channel ? position : 0);
    put(out, each.length, length);
    position = each.end();
    channel = each.channel;
    length = each.length;
  }
  for (const Transfer& each : transfers) out.put(each.at.thread);
  for (const Transfer& each : transfers) {
    put(out, each.at.event, last_events_[each.at.thread]);
    last_events_[each.at.thread] = each.at.event;
  }
  for (const Transfer& each : transfers) last_events_[each.at.thread] = 0;
}

bool TransferCode::read(NumberCursor& in, size_t from, std::span<Transfer> transfers) {
  uint32_t channel = owner_of(first_, from), length = 0;
  uint64_t position = 0;
  bool good = true;
  for (size_t i = 0; i < transfers.size(); ++i) {
    Transfer& each = transfers[i];
    while (from + i >= first_[channel + 1]) {
      ++channel;
      position = 0;
    }
    each.channel = channel;
    each.begin = get(in, position);
    each.length = length = get(in, length);
    good &= each.begin <= UINT64_MAX - each.length;
    position = each.begin + each.length;
  }
  for (Transfer& each : transfers) {
    uint64_t thread = in.get();
    good &= thread < frame_.real_threads;
    each.at.thread = good ? static_cast<uint32_t>(thread) : 0;
  }
  for (Transfer& each : transfers) {
    uint32_t& last = last_events_[each.at.thread];
    each.at.event = last = get(in, last);
    good &= frame_.there(each.at);
  }
  for (const Transfer& each : transfers) last_events_[each.at.thread] = 0;
  return good;
}

// Places
// ---------------------------------------------------------------------------------------------------------

void PlaceCode::write(NumberWriter& out, size_t, std::span<const uint32_t> places) const {
  uint32_t expected = 0;
  for (uint32_t place : places) {
    put(out, place, expected);
    expected = place + 1;
  }
}

bool PlaceCode::read(NumberCursor& in, size_t, std::span<uint32_t> places) const {
  uint32_t expected = 0;
  bool good = true;
  for (uint32_t& place : places) {
    place = get(in, expected);
    good &= place < limit;
    expected = place + 1;
  }
  return good;
}

}  // namespace pastcone::causal
