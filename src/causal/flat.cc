#include "pastcone/causal/flat.h"

#include <algorithm>
#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/flat_lists.h"
#include "pastcone/causal/numbers.h"

namespace pastcone::causal {
namespace {

constexpr char kMagic[8] = {'P', 'C', 'G', 'R', 'A', 'P', 'H', '\0'};

/// How many there are of what.
struct FlatCounts {
  uint32_t threads, real_threads, groups, edges;
  uint32_t channels, sends, receives;
  uint32_t objects, accesses, ports, arrivals, takings, between;
  uint32_t lost;
  uint32_t causal_spacing, enforced_spacing;
  uint32_t hand_overs;  ///< whether there are any
  uint32_t reserved;
};

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
  return {graph.thread_count(),          graph.real_threads,
          count(graph.groups),           count(graph.edges),
          count(graph.channels),         count(graph.sends),
          count(graph.receives),         graph.objects,
          count(graph.accesses),         count(graph.ports),
          count(graph.arrivals),         count(graph.takings),
          count(graph.points),           graph.lost,
          graph.causal.spacing,          graph.enforced.spacing,
          !graph.enforced.first.empty(), 0};
}

std::vector<uint32_t> first_anchors(const FlatLists& lists, uint32_t spacing) {
  std::vector<uint32_t> first{0};
  for (size_t i = 0; i + 1 < lists.first_group.size(); ++i)
    first.push_back(first.back() + (lists.first_group[i + 1] - lists.first_group[i]) / spacing);
  return first;
}

Status read_lists(const FlatCounts& counts, Reader& reader, FlatLists& lists) {
  TRY_STATUS(reader.resize(lists.threads, counts.threads, FlatList::kThreads));
  TRY_STATUS(reader.resize(lists.first_group, uint64_t{counts.threads} + 1, FlatList::kFirstGroups));
  TRY_STATUS(reader.resize(lists.groups, counts.groups, FlatList::kGroups));
  TRY_STATUS(reader.resize(lists.edges, counts.edges, FlatList::kEdgeThreads));
  TRY_STATUS(reader.resize(lists.kinds, counts.edges, FlatList::kKinds));
  TRY_STATUS(reader.resize(lists.channels, counts.channels, FlatList::kChannels));
  TRY_STATUS(reader.resize(lists.sends, counts.sends, FlatList::kSends));
  TRY_STATUS(reader.resize(lists.receives, counts.receives, FlatList::kReceives));
  TRY_STATUS(reader.resize(lists.accesses, counts.accesses, FlatList::kAccesses));
  TRY_STATUS(reader.resize(lists.ports, counts.ports, FlatList::kPorts));
  TRY_STATUS(reader.resize(lists.arrivals, counts.arrivals, FlatList::kArrivals));
  TRY_STATUS(reader.resize(lists.takings, counts.takings, FlatList::kTakings));
  TRY_STATUS(reader.resize(lists.between.first, uint64_t{counts.threads} + 1, FlatList::kBetween));
  for (auto* list : {&lists.between.items, &lists.points, &lists.since})
    TRY_STATUS(reader.resize(*list, counts.between, FlatList::kBetween));
  if (counts.causal_spacing == 0 || counts.enforced_spacing == 0 || counts.groups == 0)
    return fail("the graph is damaged");
  uint64_t threads = counts.threads, groups = counts.groups;
  // How many anchors a thread has is known when its groups are; so they are read as they come.
  code_threads(reader, lists);
  code_groups(reader, lists);
  if (!std::ranges::is_sorted(lists.first_group) || lists.first_group.front() != 0 ||
      lists.first_group.back() != groups - 1)
    return fail("the graph is damaged");
  TRY_STATUS(reader.resize(lists.causal.vectors, first_anchors(lists, counts.causal_spacing).back() * threads,
                           FlatList::kCausal));
  if (counts.hand_overs != 0) {
    TRY_STATUS(reader.resize(lists.enforced.vectors,
                             first_anchors(lists, counts.enforced_spacing).back() * threads,
                             FlatList::kEnforced));
  }
  code_rest(reader, lists);
  if (!reader.finished()) return fail("the graph is damaged");
  return check_lists(lists, counts.real_threads, counts.objects);
}

}  // namespace

Status write_flat(const Graph& graph, ByteView key, const std::function<Status(ByteView)>& sink) {
  Writer writer;
  code_threads(writer, graph);
  code_groups(writer, graph);
  code_rest(writer, graph);

  FlatHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFlatVersion;
  header.key_bytes = static_cast<uint32_t>(key.size());
  header.bytes = sizeof header + key.size();
  header.counts = counts_of(graph);
  std::vector<Bytes> packed;
  for (size_t list = 0; list < kFlatLists; ++list) {
    packed.push_back(writer[list].pack());
    header.sizes[list] = writer[list].size();
    header.packed[list] = packed[list].size();
    header.bytes += packed[list].size();
  }
  const auto* start = reinterpret_cast<const uint8_t*>(&header);
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, start + kChecked, sizeof header - kChecked);
  if (!key.empty()) XXH64_update(&state, key.data(), key.size());
  for (const Bytes& each : packed) XXH64_update(&state, each.data(), each.size());
  header.checksum = XXH64_digest(&state);
  TRY_STATUS(sink(ByteView(start, sizeof header)));
  TRY_STATUS(sink(key));
  for (const Bytes& each : packed) TRY_STATUS(sink(each));
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
  if (XXH64(bytes.data() + kChecked, bytes.size() - kChecked, 0) != header.checksum)
    return fail("the graph is damaged");
  rest = rest.subspan(header.key_bytes);

  Reader reader;
  for (size_t list = 0; list < kFlatLists; ++list) {
    if (header.packed[list] > rest.size()) return fail("the graph is damaged");
    reader.add(TRY(NumberReader::open(rest.first(header.packed[list]), header.sizes[list])));
    rest = rest.subspan(header.packed[list]);
  }
  if (!rest.empty()) return fail("the graph is damaged");
  FlatLists lists;
  TRY_STATUS(read_lists(header.counts, reader, lists));

  Graph graph;
  graph.real_threads = header.counts.real_threads;
  graph.lost = header.counts.lost;
  graph.objects = header.counts.objects;
  graph.causal.kinds = kCausalKinds;
  graph.causal.spacing = header.counts.causal_spacing;
  graph.causal.first = first_anchors(lists, graph.causal.spacing);
  graph.causal.vectors = std::move(lists.causal.vectors);
  graph.enforced.spacing = header.counts.enforced_spacing;
  if (header.counts.hand_overs != 0) graph.enforced.first = first_anchors(lists, graph.enforced.spacing);
  graph.enforced.vectors = std::move(lists.enforced.vectors);
  graph.threads = std::move(lists.threads);
  graph.channels = std::move(lists.channels);
  graph.sends = std::move(lists.sends);
  graph.receives = std::move(lists.receives);
  graph.accesses = std::move(lists.accesses);
  graph.ports = std::move(lists.ports);
  graph.arrivals = std::move(lists.arrivals);
  graph.takings = std::move(lists.takings);
  graph.between = {std::move(lists.between.first), std::move(lists.between.items)};
  graph.points = std::move(lists.points);
  graph.since = std::move(lists.since);
  graph.first_group = std::move(lists.first_group);
  graph.kinds = std::move(lists.kinds);
  TRY_STATUS(index_transfers(graph));
  TRY_STATUS(index_edges(std::move(lists.groups), std::move(lists.edges), graph));
  return graph;
}

}  // namespace pastcone::causal
