// The event graph of a recording: as it lies in graph.idx beside it, or made of its streams and the facts
// that a replay tells, and then kept there for the next time. A graph.idx that is damaged, of another
// recording, of less or more of this one, or made by another build's rules is as good as none. Where it
// cannot be written the graph is read each time.
#pragma once

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/graph.h"
#include "pastcone/graph/facts.h"
#include "pastcone/trace/recording.h"

namespace pastcone::graph {

struct OpenedGraph {
  MappedFile file;  ///< which the graph is unpacked from; empty if it was made
  causal::Graph graph;
  bool kept = false;          ///< it was there
  std::string contradiction;  ///< that facts led to: it was made without them
  bool whole = true;          ///< with all the facts that there are
};

/// An error if a stream is damaged, or contradicts the others.
/// `find` is asked for the facts that the streams do not tell, if the graph has to be made; without, it is
/// made of what they tell. If there are not all it is not kept.
Result<OpenedGraph> open_graph(const Recording& recording, const FindFacts& find = {});

}  // namespace pastcone::graph
