// How the entries of the long arrays are written as numbers: as what they differ from what the block says
// before. Numbers of one kind lie together. A part of flat.h; for codes see flat_blocks.h.
//
// Reading checks that every number leads somewhere. What it takes all blocks to see, like whether positions
// rise from one block to the next, is not checked: the questions bear it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "pastcone/causal/graph.h"
#include "pastcone/causal/numbers.h"

namespace pastcone::causal {

/// What all of them rely on, by what stays where it is.
struct FlatFrame {
  std::span<const Thread> threads;
  uint32_t real_threads = 0;
  std::span<const uint32_t> first_group;
  size_t edges = 0;
  Node some{};  ///< an event of a real thread that there is

  bool there(Node node) const {
    return node.thread < threads.size() && node.event != 0 && node.event <= threads[node.thread].events;
  }
};

struct GroupCode {
  using Entry = Group;
  FlatFrame frame;

  void write(NumberWriter& out, size_t from, std::span<const Group> groups) const;
  bool read(NumberCursor& in, size_t from, std::span<Group> groups) const;
  void clear(size_t from, std::span<Group> groups) const;

 private:
  void set_threads(size_t from, std::span<Group> groups) const;
};

struct KindCode {
  using Entry = uint8_t;

  void write(NumberWriter& out, size_t from, std::span<const uint8_t> kinds) const;
  bool read(NumberCursor& in, size_t from, std::span<uint8_t> kinds) const;
  void clear(size_t, std::span<uint8_t> kinds) const { std::ranges::fill(kinds, uint8_t{0}); }
};

/// A thread's edges of one kind mostly come from the same few others, and go on where the last one was.
class EdgeCode {
 public:
  using Entry = Edge;

  /// `kinds` of all edges; unpacked by `pages`, if there are any.
  EdgeCode(const FlatFrame& frame, std::span<const uint8_t> kinds, std::shared_ptr<Pages> pages);

  void write(NumberWriter& out, size_t from, std::span<const Edge> edges);
  bool read(NumberCursor& in, size_t from, std::span<Edge> edges);
  void clear(size_t, std::span<Edge> edges) const {
    std::ranges::fill(edges, Edge{frame_.some, kNone, kNone});
  }

 private:
  struct Last {
    uint32_t event = 0, group = 0, label = 0;
  };

  Last& last(size_t place, const Edge& edge);
  void forget(size_t from, std::span<const Edge> edges);

  FlatFrame frame_;
  std::span<const uint8_t> kinds_;
  std::shared_ptr<Pages> pages_;
  std::vector<Last> lasts_;  ///< by thread and kind; all zeros between blocks
};

struct VectorCode {
  using Entry = uint32_t;
  FlatFrame frame;

  void write(NumberWriter& out, size_t from, std::span<const uint32_t> entries) const;
  bool read(NumberCursor& in, size_t from, std::span<uint32_t> entries) const;
  void clear(size_t, std::span<uint32_t> entries) const { std::ranges::fill(entries, 0u); }
};

class TransferCode {
 public:
  using Entry = Transfer;

  /// `first` of each channel.
  TransferCode(const FlatFrame& frame, std::span<const uint32_t> first);

  void write(NumberWriter& out, size_t from, std::span<const Transfer> transfers);
  bool read(NumberCursor& in, size_t from, std::span<Transfer> transfers);
  void clear(size_t, std::span<Transfer> transfers) const {
    std::ranges::fill(transfers, Transfer{0, 0, 0, frame_.some});
  }

 private:
  FlatFrame frame_;
  std::span<const uint32_t> first_;
  std::vector<uint32_t> last_events_;  ///< of each thread; all zeros between blocks
};

/// Places below a limit, mostly one after the other.
struct PlaceCode {
  using Entry = uint32_t;
  size_t limit = 0;

  void write(NumberWriter& out, size_t from, std::span<const uint32_t> places) const;
  bool read(NumberCursor& in, size_t from, std::span<uint32_t> places) const;
  void clear(size_t, std::span<uint32_t> places) const { std::ranges::fill(places, 0u); }
};

}  // namespace pastcone::causal
