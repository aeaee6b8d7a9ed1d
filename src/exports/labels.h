// What all formats say about an event, and which threads are exported.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pastcone/causal/graph.h"
#include "pastcone/trace/item.h"
#include "pastcone/trace/processes.h"
#include "pastcone/trace/recording.h"

namespace pastcone::exports {

/// What is exported: the threads for which `wanted` is true, by their places in the graph.
struct Subject {
  const Recording& recording;
  const causal::Graph& graph;
  std::vector<bool> wanted;
  /// "server.c:80 in handle_request"; empty: not known. None: nobody wants to know.
  std::function<const std::string&(EventId)> where = nullptr;

  bool has(uint32_t thread) const { return thread < wanted.size() && wanted[thread]; }
  uint64_t events() const;
  /// Empty: not known.
  const std::string& place(EventId event) const;
};

/// "read", or "call 9999".
std::string kind_text(const Item& item);
/// "write ch 12 = 45", and " at server.c:80 in handle_request" if that is wanted.
std::string label(const Subject& subject, ThreadId thread, const Item& item);
/// "p3 cat -n".
std::string process_label(const ProcessTable& processes, ProcessId process);

}  // namespace pastcone::exports
