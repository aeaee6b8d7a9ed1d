// The graph as bytes, to be kept beside a recording: only what does not follow from the rest, each number as
// what it differs from the one that was to be expected, compressed. Opening it puts the rest together again,
// which is a small part of what building takes.
//
//   FlatHeader; the key; then the lists of flat_lists.h, one after the other
//
// Integers are those of the machine (little endian). Opening checks everything that the questions rely on, so
// that wrong bytes are an error and never a wrong step in memory. What only the checksum protects is whether
// the anchors are the right ones.
#pragma once

#include <functional>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/graph.h"

namespace pastcone::causal {

inline constexpr uint32_t kFlatVersion = 2;

/// Hands the bytes over, piece by piece. `key` says what the graph is of: whoever opens it must have the
/// same.
Status write_flat(const Graph& graph, ByteView key, const std::function<Status(ByteView)>& sink);
Bytes flat_bytes(const Graph& graph, ByteView key);

/// The bytes are not needed afterwards.
Result<Graph> open_flat(ByteView bytes, ByteView key);

}  // namespace pastcone::causal
