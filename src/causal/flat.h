// The graph as bytes that are used where they lie: to be kept beside a recording and mapped again. Integers
// are those of the machine (little endian); nothing in it is an address.
//
//   FlatHeader; the key; then the columns of Graph in the order of flat_columns.h, each at a multiple of 8
//   bytes
//
// Opening checks everything that the questions rely on, so that wrong bytes are an error and never a wrong
// step in memory. It allocates a bit for each group. What only the checksum protects is whether the anchors
// are the right ones.
#pragma once

#include <functional>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/graph.h"

namespace pastcone::causal {

inline constexpr uint32_t kFlatVersion = 1;

/// Hands the bytes over, piece by piece. `key` says what the graph is of: whoever opens it must have the
/// same.
Status write_flat(const Graph& graph, ByteView key, const std::function<Status(ByteView)>& sink);
Bytes flat_bytes(const Graph& graph, ByteView key);

/// The bytes must begin at a multiple of 8, and outlive the graph.
Result<Graph> open_flat(ByteView bytes, ByteView key);

}  // namespace pastcone::causal
