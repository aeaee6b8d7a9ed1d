// The graph as bytes, to be kept beside a recording: only what does not follow from the rest, each number as
// what it differs from the one that was to be expected, compressed. What is long lies in blocks, which are
// unpacked when somebody looks at them: opening takes as long as a checksum.
//
//   FlatHeader; the key; then the lists of flat_lists.h, one after the other; then the blocks (flat_blocks.h)
//
// Integers are those of the machine (little endian). Nothing is believed before the checksum of all bytes was
// right. Besides, whatever questions use as a place is checked where it is unpacked, so that bytes that were
// made to be wrong may lead to wrong answers, and never to a wrong step in memory.
#pragma once

#include <functional>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/graph.h"

namespace pastcone::causal {

inline constexpr uint32_t kFlatVersion = 4;

/// Hands the bytes over, piece by piece. `key` says what the graph is of: whoever opens it must have the
/// same.
Status write_flat(const Graph& graph, ByteView key, const std::function<Status(ByteView)>& sink);
Bytes flat_bytes(const Graph& graph, ByteView key);

/// The bytes must outlive the graph, which unpacks what it is asked for.
Result<Graph> open_flat(ByteView bytes, ByteView key);

}  // namespace pastcone::causal
