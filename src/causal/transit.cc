#include "pastcone/causal/transit.h"

#include <algorithm>
#include <ranges>

namespace pastcone::causal {
namespace {

/// One side of a channel, and how much of it is in the cut.
class Side {
 public:
  Side(const Column<Transfer>& all, const Column<uint32_t>& first, const Lanes& lanes,
       std::span<const uint32_t> cut)
      : all_(all), first_(first), lanes_(lanes), cut_(cut) {}

  bool in_cut(const Transfer& each) const { return each.at.event <= cut_[each.at.thread]; }

  auto first_items(const Lane& lane, size_t count) const {
    auto begin = lanes_.items.begin() + lane.first;
    return std::ranges::subrange(begin, begin + static_cast<ptrdiff_t>(count));
  }
  auto items(const Lane& lane) const { return first_items(lane, lane.count); }

  /// How many of a lane are in the cut: the first ones.
  size_t count_in(const Lane& lane) const {
    auto list = items(lane);
    auto until = std::ranges::partition_point(list, [&](uint32_t item) { return in_cut(all_[item]); });
    return static_cast<size_t>(until - list.begin());
  }

  /// Everything of this side that lies before it is in the cut.
  uint64_t all_before(uint32_t channel) const {
    uint64_t position = UINT64_MAX;
    for (const Lane& lane : lanes_.of(channel)) {
      size_t count = count_in(lane);
      if (count < lane.count)
        position = std::min(position, all_[items(lane)[static_cast<ptrdiff_t>(count)]].begin);
    }
    return position;
  }

  /// Where this side ends.
  uint64_t end(uint32_t channel) const {
    return first_[channel] == first_[channel + 1] ? 0 : all_[first_[channel + 1] - 1].end();
  }

  /// Calls found(place) for all that overlap `piece`, by position; in a channel of messages, that have its
  /// name.
  template <typename Found>
  void overlapping(uint32_t channel, const Transfer& piece, bool messages, Found found) const {
    auto from = all_.begin() + first_[channel], until = all_.begin() + first_[channel + 1];
    if (messages) {
      auto same = std::ranges::equal_range(from, until, piece.begin, {}, &Transfer::begin);
      for (auto each = same.begin(); each != same.end(); ++each)
        found(static_cast<uint32_t>(each - all_.begin()));
      return;
    }
    auto each =
        std::partition_point(from, until, [&](const Transfer& other) { return other.end() <= piece.begin; });
    for (; each != until && each->begin < piece.end(); ++each)
      found(static_cast<uint32_t>(each - all_.begin()));
  }

  const Transfer& operator[](uint32_t place) const { return all_[place]; }
  const Lanes& lanes() const { return lanes_; }

 private:
  const Column<Transfer>& all_;
  const Column<uint32_t>& first_;
  const Lanes& lanes_;
  std::span<const uint32_t> cut_;
};

/// Calls visit(place) for those of `side` that are in the cut and reach behind `position`.
template <typename Visit>
void visit_behind(const Side& side, uint32_t channel, uint64_t position, bool ordered, Visit visit) {
  for (const Lane& lane : side.lanes().of(channel)) {
    auto items = side.first_items(lane, side.count_in(lane));
    auto from = items.begin();
    if (ordered) {
      auto before = [&](uint32_t item) { return side[item].end() < position; };
      from = std::ranges::partition_point(items, before);
    }
    for (; from != items.end(); ++from) visit(*from);
  }
}

/// The parts of a send that no receive in the cut took.
void add_missing(const Side& receives, const Transfer& send, uint32_t place, bool messages,
                 std::vector<Piece>& into) {
  uint64_t position = send.begin;
  bool taken = false;
  receives.overlapping(send.channel, send, messages, [&](uint32_t other) {
    const Transfer& receive = receives[other];
    if (!receives.in_cut(receive)) return;
    taken = true;
    if (receive.begin > position) into.push_back({place, kNone, position, receive.begin});
    position = std::max(position, receive.end());
  });
  if (messages ? !taken : position < send.end()) into.push_back({place, kNone, position, send.end()});
}

}  // namespace

std::vector<Piece> in_transit(const Graph& graph, std::span<const uint32_t> cut) {
  Side sends(graph.sends, graph.first_send, graph.send_lanes, cut);
  Side receives(graph.receives, graph.first_receive, graph.receive_lanes, cut);
  std::vector<Piece> pieces;
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) {
    uint32_t flags = graph.channels[channel].flags;
    bool ordered = (flags & (Channel::kUnordered | Channel::kGaps)) == 0;
    uint64_t position = ordered ? std::min(receives.all_before(channel), receives.end(channel)) : 0;
    visit_behind(sends, channel, position, true, [&](uint32_t place) {
      add_missing(receives, sends[place], place, graph.channels[channel].messages(), pieces);
    });
  }
  return pieces;
}

std::vector<Piece> orphans(const Graph& graph, std::span<const uint32_t> cut) {
  Side sends(graph.sends, graph.first_send, graph.send_lanes, cut);
  Side receives(graph.receives, graph.first_receive, graph.receive_lanes, cut);
  std::vector<Piece> pieces;
  for (uint32_t channel = 0; channel < graph.channels.size(); ++channel) {
    bool ordered = (graph.channels[channel].flags & Channel::kUnordered) == 0;
    bool messages = graph.channels[channel].messages();
    uint64_t position = sends.all_before(channel);
    if (position == UINT64_MAX) continue;
    visit_behind(receives, channel, position, ordered, [&](uint32_t place) {
      const Transfer& receive = receives[place];
      sends.overlapping(channel, receive, messages, [&](uint32_t other) {
        const Transfer& send = sends[other];
        if (sends.in_cut(send)) return;
        pieces.push_back(messages ? Piece{other, place, send.begin, send.end()}
                                  : Piece{other, place, std::max(send.begin, receive.begin),
                                          std::min(send.end(), receive.end())});
      });
    });
  }
  return pieces;
}

}  // namespace pastcone::causal
