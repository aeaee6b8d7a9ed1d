#include "pastcone/causal/flat.h"

#include <cstring>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "pastcone/causal/flat_columns.h"

namespace pastcone::causal {
namespace {

constexpr char kMagic[8] = {'P', 'C', 'G', 'R', 'A', 'P', 'H', '\0'};

struct FlatHeader {
  char magic[8];
  uint32_t version;
  uint32_t key_bytes;
  uint64_t bytes;     ///< all of it
  uint64_t checksum;  ///< of all that follows this field
  uint32_t real_threads, lost, objects;
  uint32_t causal_spacing, enforced_spacing;
  uint32_t columns;
  uint64_t counts[kFlatColumns];  ///< elements of each column
};
constexpr size_t kChecked = offsetof(FlatHeader, real_threads);

constexpr uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

template <typename T>
ByteView bytes_of(std::span<const T> values) {
  static_assert(std::has_unique_object_representations_v<T>);  // no padding
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

/// Calls sink(piece) for all that follows the checksum, from `header` on.
template <typename Sink>
Status each_piece(const FlatHeader& header, const Graph& graph, ByteView key, Sink sink) {
  static constexpr uint8_t kZeros[8] = {};
  Status status =
      sink(ByteView(reinterpret_cast<const uint8_t*>(&header) + kChecked, sizeof header - kChecked));
  auto put = [&](ByteView piece) {
    if (status) status = sink(piece);
    if (status) status = sink(ByteView(kZeros, padded(piece.size()) - piece.size()));
  };
  put(key);
  each_column(graph, [&](const auto& column) { put(bytes_of(column.view())); });
  return status;
}

}  // namespace

Status write_flat(const Graph& graph, ByteView key, const std::function<Status(ByteView)>& sink) {
  FlatHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFlatVersion;
  header.key_bytes = static_cast<uint32_t>(key.size());
  header.bytes = sizeof header + padded(key.size());
  header.real_threads = graph.real_threads;
  header.lost = graph.lost;
  header.objects = graph.objects;
  header.causal_spacing = graph.causal.spacing;
  header.enforced_spacing = graph.enforced.spacing;
  each_column(graph, [&](const auto& column) {
    header.counts[header.columns++] = column.size();
    header.bytes += padded(column.view().size_bytes());
  });

  XXH64_state_t state;
  XXH64_reset(&state, 0);
  TRY_STATUS(each_piece(header, graph, key, [&](ByteView piece) -> Status {
    if (!piece.empty()) XXH64_update(&state, piece.data(), piece.size());
    return {};
  }));
  header.checksum = XXH64_digest(&state);
  TRY_STATUS(sink(ByteView(reinterpret_cast<const uint8_t*>(&header), kChecked)));
  return each_piece(header, graph, key, sink);
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
  if (header.bytes != bytes.size() || header.columns != kFlatColumns)
    return fail("the graph has another size than it says");
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0)
    return fail("the graph does not begin at a multiple of 8");
  uint64_t offset = sizeof header;
  if (header.key_bytes > bytes.size() - offset) return fail("the graph is cut short");
  ByteView found = bytes.subspan(offset, header.key_bytes);
  if (!std::equal(found.begin(), found.end(), key.begin(), key.end()))
    return fail("the graph is of something else");
  if (XXH64(bytes.data() + kChecked, bytes.size() - kChecked, 0) != header.checksum)
    return fail("the graph is damaged");
  offset += padded(header.key_bytes);

  Graph graph;
  size_t index = 0;
  bool fits = true;
  each_column(graph, [&]<typename T>(Column<T>& column) {
    uint64_t count = header.counts[index++];
    fits = fits && offset <= bytes.size() && count <= (bytes.size() - offset) / sizeof(T) && count < kNone;
    if (!fits) return;
    column = Column<T>::over({reinterpret_cast<const T*>(bytes.data() + offset), count});
    offset += padded(count * sizeof(T));
  });
  if (!fits || offset != bytes.size()) return fail("the graph is damaged");
  graph.real_threads = header.real_threads;
  graph.lost = header.lost;
  graph.objects = header.objects;
  graph.causal.kinds = kCausalKinds;
  graph.causal.spacing = header.causal_spacing;
  graph.enforced.spacing = header.enforced_spacing;
  TRY_STATUS(check_graph(graph));
  return graph;
}

}  // namespace pastcone::causal
