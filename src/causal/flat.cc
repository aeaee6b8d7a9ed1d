#include "pastcone/causal/flat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "pastcone/causal/flat_blocks.h"
#include "pastcone/causal/flat_codes.h"
#include "pastcone/causal/flat_lists.h"
#include "pastcone/causal/numbers.h"

namespace pastcone::causal {
namespace {

constexpr unsigned kShift = 11;  // entries of a block; few enough for a question that needs one of them
constexpr char kMagic[8] = {'P', 'C', 'G', 'R', 'A', 'P', 'H', '\0'};

struct FlatHeader {
  char magic[8];
  uint32_t version;
  uint32_t key_bytes;
  uint64_t bytes;     ///< all of it
  uint64_t checksum;  ///< of all that follows this field
  FlatCounts counts;
  uint64_t sizes[kFlatLists];   ///< of each list: numbers, as bytes
  uint64_t packed[kFlatLists];  ///< the same, compressed
};
constexpr size_t kChecked = offsetof(FlatHeader, counts);
static_assert(sizeof(FlatHeader) == kChecked + sizeof(FlatCounts) + 16 * kFlatLists);

class Writer {
 public:
  template <typename Number>
  void number(FlatList list, const Number& value, Number expected) {
    lists_[static_cast<size_t>(list)].put(folded(static_cast<Number>(value - expected)));
  }
  void plain(FlatList list, uint64_t value) { lists_[static_cast<size_t>(list)].put(value); }

  const NumberWriter& operator[](size_t list) const { return lists_[list]; }

 private:
  std::array<NumberWriter, kFlatLists> lists_;
};

class Reader {
 public:
  template <typename Number>
  void number(FlatList list, Number& value, Number expected) {
    value = expected + unfolded(static_cast<Number>(lists_[static_cast<size_t>(list)].get()));
  }
  template <typename Number>
  void plain(FlatList list, Number& value) {
    value = static_cast<Number>(lists_[static_cast<size_t>(list)].get());
  }

  void add(NumberReader list) { lists_.push_back(std::move(list)); }
  bool finished() const { return std::ranges::all_of(lists_, &NumberReader::finished); }

  /// Makes room for what a number of each is in a list: it has that many, or the count is wrong.
  template <typename T>
  Status resize(std::vector<T>& values, uint64_t count, FlatList list) {
    if (count > lists_[static_cast<size_t>(list)].size()) return fail("the graph is damaged");
    values.resize(count);
    return {};
  }

 private:
  std::vector<NumberReader> lists_;
};

FlatCounts counts_of(const Graph& graph) {
  auto count = [](const auto& column) { return static_cast<uint32_t>(column.size()); };
  FlatCounts counts{};
  counts.threads = graph.thread_count();
  counts.real_threads = graph.real_threads;
  counts.groups = count(graph.groups);
  counts.edges = count(graph.edges);
  counts.channels = count(graph.channels);
  counts.sends = count(graph.sends);
  counts.receives = count(graph.receives);
  counts.send_lanes = count(graph.send_lanes.lanes);
  counts.receive_lanes = count(graph.receive_lanes.lanes);
  counts.objects = graph.objects;
  counts.accesses = count(graph.accesses);
  counts.ports = count(graph.ports);
  counts.arrivals = count(graph.arrivals);
  counts.takings = count(graph.takings);
  counts.watches = count(graph.watches);
  counts.between = count(graph.points);
  counts.lost = graph.lost;
  counts.causal_spacing = graph.causal.spacing;
  counts.enforced_spacing = graph.enforced.spacing;
  counts.hand_overs = graph.enforced.first.empty() ? 0 : 1;
  return counts;
}

std::vector<uint32_t> first_anchors(std::span<const uint32_t> first_group, uint32_t spacing) {
  std::vector<uint32_t> first{0};
  for (size_t i = 0; i + 1 < first_group.size(); ++i)
    first.push_back(first.back() + (first_group[i + 1] - first_group[i]) / spacing);
  return first;
}

FlatFrame frame_of(const Graph& graph) {
  FlatFrame frame{graph.threads.view(), graph.real_threads, graph.first_group.view(), graph.edges.size(), {}};
  auto real = frame.threads.first(graph.real_threads);
  auto some = std::ranges::find_if(real, [](const Thread& thread) { return thread.events != 0; });
  if (some != real.end()) frame.some = {static_cast<uint32_t>(some - real.begin()), 1};
  return frame;
}

/// A vector differs little from the one before, so that several should be in a block.
unsigned vector_shift(size_t threads) {
  return std::max(kShift + 1, static_cast<unsigned>(std::bit_width(threads)) + 3);
}

Status read_lists(const FlatCounts& counts, Reader& reader, FlatLists& lists) {
  TRY_STATUS(reader.resize(lists.threads, counts.threads, FlatList::kThreads));
  TRY_STATUS(reader.resize(lists.first_group, uint64_t{counts.threads} + 1, FlatList::kFirstGroups));
  TRY_STATUS(reader.resize(lists.channels, counts.channels, FlatList::kChannels));
  for (auto* list : {&lists.first_send, &lists.first_receive})
    TRY_STATUS(reader.resize(*list, uint64_t{counts.channels} + 1, FlatList::kChannels));
  for (auto* list : {&lists.send_lanes.of_channel, &lists.receive_lanes.of_channel})
    TRY_STATUS(reader.resize(*list, uint64_t{counts.channels} + 1, FlatList::kLanes));
  TRY_STATUS(reader.resize(lists.send_lanes.lanes, counts.send_lanes, FlatList::kLanes));
  TRY_STATUS(reader.resize(lists.receive_lanes.lanes, counts.receive_lanes, FlatList::kLanes));
  TRY_STATUS(reader.resize(lists.accesses, counts.accesses, FlatList::kAccesses));
  TRY_STATUS(reader.resize(lists.ports, counts.ports, FlatList::kPorts));
  TRY_STATUS(reader.resize(lists.arrivals, counts.arrivals, FlatList::kArrivals));
  TRY_STATUS(reader.resize(lists.takings, counts.takings, FlatList::kTakings));
  TRY_STATUS(reader.resize(lists.watches, counts.watches, FlatList::kWatches));
  TRY_STATUS(reader.resize(lists.between.first, uint64_t{counts.threads} + 1, FlatList::kBetween));
  for (auto* list : {&lists.between.items, &lists.points, &lists.since})
    TRY_STATUS(reader.resize(*list, counts.between, FlatList::kBetween));
  if (counts.causal_spacing == 0 || counts.enforced_spacing == 0) return fail("the graph is damaged");
  code_lists(reader, lists);
  return check_lists(lists, counts);
}

/// The small members: those of the lists.
Graph graph_of(const FlatCounts& counts, FlatLists&& lists) {
  Graph graph;
  graph.real_threads = counts.real_threads;
  graph.lost = counts.lost;
  graph.objects = counts.objects;
  graph.causal.kinds = kCausalKinds;
  graph.causal.spacing = counts.causal_spacing;
  graph.causal.first = first_anchors(lists.first_group, graph.causal.spacing);
  graph.enforced.spacing = counts.enforced_spacing;
  if (counts.hand_overs != 0) graph.enforced.first = first_anchors(lists.first_group, graph.enforced.spacing);
  graph.threads = std::move(lists.threads);
  graph.first_group = std::move(lists.first_group);
  graph.channels = std::move(lists.channels);
  graph.first_send = std::move(lists.first_send);
  graph.first_receive = std::move(lists.first_receive);
  graph.send_lanes.lanes = std::move(lists.send_lanes.lanes);
  graph.send_lanes.of_channel = std::move(lists.send_lanes.of_channel);
  graph.receive_lanes.lanes = std::move(lists.receive_lanes.lanes);
  graph.receive_lanes.of_channel = std::move(lists.receive_lanes.of_channel);
  graph.accesses = std::move(lists.accesses);
  graph.ports = std::move(lists.ports);
  graph.arrivals = std::move(lists.arrivals);
  graph.takings = std::move(lists.takings);
  graph.watches = std::move(lists.watches);
  graph.between = {std::move(lists.between.first), std::move(lists.between.items)};
  graph.points = std::move(lists.points);
  graph.since = std::move(lists.since);
  return graph;
}

/// The long members, which stay packed.
class ColumnOpener {
 public:
  ColumnOpener(Reader& reader, ByteView bytes) : reader_(reader), bytes_(bytes) {}

  template <typename Code>
  Status open(Column<typename Code::Entry>& column, uint64_t count, unsigned shift, Code code) {
    std::vector<uint32_t> sizes;
    TRY_STATUS(reader_.resize(sizes, Pages::blocks_of(count, shift), FlatList::kBlocks));
    uint64_t bytes = 0;
    for (uint32_t& size : sizes) {
      reader_.plain(FlatList::kBlocks, size);
      bytes += size;
    }
    if (bytes > bytes_.size()) return fail("the graph is damaged");
    auto pages =
        std::make_shared<PackedPages<Code>>(bytes_.first(bytes), sizes, count, shift, std::move(code));
    auto entries = pages->entries();
    last_ = pages;
    column = Column<typename Code::Entry>::packed(entries, std::move(pages));
    bytes_ = bytes_.subspan(bytes);
    return {};
  }

  /// Of the column that was opened last.
  std::shared_ptr<Pages> last() const { return last_; }
  bool finished() const { return bytes_.empty() && reader_.finished(); }

 private:
  Reader& reader_;
  ByteView bytes_;
  std::shared_ptr<Pages> last_;
};

Status open_columns(const FlatCounts& counts, ColumnOpener& opener, Graph& graph) {
  FlatFrame frame = frame_of(graph);
  frame.edges = counts.edges;
  size_t threads = counts.threads;
  TRY_STATUS(opener.open(graph.groups, counts.groups, kShift, GroupCode{frame}));
  TRY_STATUS(opener.open(graph.kinds, counts.edges, kShift, KindCode{}));
  auto kinds = opener.last();
  // Who has the entries has them unpacked first.
  std::span<const uint8_t> all_kinds = graph.kinds.packed_view();
  TRY_STATUS(opener.open(graph.edges, counts.edges, kShift, EdgeCode(frame, all_kinds, kinds)));
  for (Anchors* anchors : {&graph.causal, &graph.enforced}) {
    uint64_t count = anchors->first.empty() ? 0 : uint64_t{anchors->first[threads]} * threads;
    TRY_STATUS(opener.open(anchors->vectors, count, vector_shift(threads), VectorCode{frame}));
  }
  TRY_STATUS(opener.open(graph.sends, counts.sends, kShift, TransferCode(frame, graph.first_send.view())));
  TRY_STATUS(
      opener.open(graph.receives, counts.receives, kShift, TransferCode(frame, graph.first_receive.view())));
  TRY_STATUS(opener.open(graph.send_lanes.items, counts.sends, kShift, PlaceCode{counts.sends}));
  TRY_STATUS(opener.open(graph.receive_lanes.items, counts.receives, kShift, PlaceCode{counts.receives}));
  return {};
}

std::array<PackedBlocks, 9> pack_columns(const Graph& graph) {
  FlatFrame frame = frame_of(graph);
  unsigned vectors = vector_shift(graph.threads.size());
  return {pack_blocks(graph.groups, kShift, GroupCode{frame}),
          pack_blocks(graph.kinds, kShift, KindCode{}),
          pack_blocks(graph.edges, kShift, EdgeCode(frame, graph.kinds.view(), nullptr)),
          pack_blocks(graph.causal.vectors, vectors, VectorCode{frame}),
          pack_blocks(graph.enforced.vectors, vectors, VectorCode{frame}),
          pack_blocks(graph.sends, kShift, TransferCode(frame, graph.first_send.view())),
          pack_blocks(graph.receives, kShift, TransferCode(frame, graph.first_receive.view())),
          pack_blocks(graph.send_lanes.items, kShift, PlaceCode{}),
          pack_blocks(graph.receive_lanes.items, kShift, PlaceCode{})};
}

}  // namespace

Status write_flat(const Graph& graph, ByteView key, const std::function<Status(ByteView)>& sink) {
  std::array columns = pack_columns(graph);
  Writer writer;
  code_lists(writer, graph);
  for (const PackedBlocks& column : columns) {
    for (uint32_t size : column.sizes) writer.plain(FlatList::kBlocks, size);
  }

  FlatHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFlatVersion;
  header.key_bytes = static_cast<uint32_t>(key.size());
  header.counts = counts_of(graph);
  std::vector<Bytes> pieces{Bytes(key.begin(), key.end())};
  for (size_t list = 0; list < kFlatLists; ++list) {
    pieces.push_back(writer[list].pack());
    header.sizes[list] = writer[list].size();
    header.packed[list] = pieces.back().size();
  }
  for (PackedBlocks& column : columns) pieces.push_back(std::move(column.bytes));
  header.bytes = sizeof header;
  for (const Bytes& piece : pieces) header.bytes += piece.size();

  const auto* start = reinterpret_cast<const uint8_t*>(&header);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, start + kChecked, sizeof header - kChecked);
  for (const Bytes& piece : pieces) {
    if (!piece.empty()) XXH3_64bits_update(&state, piece.data(), piece.size());
  }
  header.checksum = XXH3_64bits_digest(&state);
  TRY_STATUS(sink(ByteView(start, sizeof header)));
  for (const Bytes& piece : pieces) TRY_STATUS(sink(piece));
  return {};
}

Bytes flat_bytes(const Graph& graph, ByteView key) {
  Bytes bytes;
  Status status = write_flat(graph, key, [&](ByteView piece) -> Status {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return {};
  });
  static_cast<void>(status);  // this sink does not fail
  return bytes;
}

Result<Graph> open_flat(ByteView bytes, ByteView key) {
  FlatHeader header;
  if (bytes.size() < sizeof header) return fail("the graph is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return fail("this is not a graph");
  if (header.version != kFlatVersion)
    return fail("the graph has version {}, not {}", header.version, kFlatVersion);
  if (header.bytes != bytes.size()) return fail("the graph has another size than it says");
  ByteView rest = bytes.subspan(sizeof header);
  if (header.key_bytes > rest.size()) return fail("the graph is cut short");
  ByteView found = rest.first(header.key_bytes);
  if (!std::equal(found.begin(), found.end(), key.begin(), key.end()))
    return fail("the graph is of something else");
  if (XXH3_64bits(bytes.data() + kChecked, bytes.size() - kChecked) != header.checksum)
    return fail("the graph is damaged");
  rest = rest.subspan(header.key_bytes);

  Reader reader;
  for (size_t list = 0; list < kFlatLists; ++list) {
    if (header.packed[list] > rest.size()) return fail("the graph is damaged");
    reader.add(TRY(NumberReader::open(rest.first(header.packed[list]), header.sizes[list])));
    rest = rest.subspan(header.packed[list]);
  }
  FlatLists lists;
  TRY_STATUS(read_lists(header.counts, reader, lists));
  Graph graph = graph_of(header.counts, std::move(lists));
  ColumnOpener opener(reader, rest);
  TRY_STATUS(open_columns(header.counts, opener, graph));
  if (!opener.finished()) return fail("the graph is damaged");
  return graph;
}

}  // namespace pastcone::causal
