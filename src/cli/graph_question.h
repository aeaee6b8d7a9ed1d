// What the commands that ask the event graph have in common: their options, and opening the recording with
// its graph.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "pastcone/causal/path.h"
#include "pastcone/cli/event_notes.h"
#include "pastcone/cli/where.h"
#include "pastcone/graph/open_graph.h"
#include "pastcone/trace/recording.h"

namespace pastcone::cli {

struct GraphOptions {
  std::string rec;
  bool turns = false;
  bool json = false;
  bool where = false;

  causal::Order order() const { return turns ? causal::Order::kEnforced : causal::Order::kCausal; }
};

/// REC, which comes after the command's own arguments.
void add_rec(CLI::App& command, GraphOptions& options);
void add_json(CLI::App& command, GraphOptions& options);
void add_turns(CLI::App& command, GraphOptions& options);
void add_where(CLI::App& command, GraphOptions& options);

struct Asked {
  Recording recording;
  graph::OpenedGraph opened;

  /// `with_places`: Where will be asked too.
  static Result<Asked> open(const std::string& rec, bool with_places);
  const causal::Graph& graph() const { return opened.graph; }
};

/// One line for each arrow: from which event, to which, and why.
Status print_chain(const Asked& asked, const Where& where, const std::vector<causal::Arrow>& arrows);
nlohmann::ordered_json chain_json(const causal::Graph& graph, const Where& where,
                                  const std::vector<causal::Arrow>& arrows);

}  // namespace pastcone::cli
