// Commands of `pastcone debug` that show messages.
#include <algorithm>

#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/text.h"
#include "pastcone/debug/contents.h"
#include "pastcone/debug/message_parts.h"
#include "pastcone/debug/navigate.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/steps.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::cli {
namespace {

using causal::Graph;
using causal::kNone;
using causal::Transfer;
using graph::Message;

constexpr uint64_t kShown = 1024;          // bytes; of text, twice as many
constexpr uint64_t kMost = 64 << 20;       // with `all`

/// What the event sent, or received, by places in Graph::sends or receives.
std::vector<uint32_t> transfers_at(const Graph& graph, const causal::ByThread& places,
                                   const causal::Column<Transfer>& all, uint32_t thread, uint64_t event) {
  std::vector<uint32_t> found;
  for (uint32_t place : places.of(thread))
    if (graph::event_of_step(graph, all[place].at) == event) found.push_back(place);
  return found;
}

std::string partners(const Graph& graph, const std::vector<Message>& parts, bool sent) {
  std::vector<std::string> names;
  for (const Message& part : parts) {
    uint32_t place = sent ? part.receive : part.send;
    std::string name = place == kNone ? "outside"
                                      : to_string(graph::event_of(graph, (sent ? graph.receives : graph.sends)[place].at));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  if (sent) return names.empty() ? ", received by nobody" : fmt::format(", received by {}", fmt::join(names, ", "));
  return names == std::vector<std::string>{"outside"} ? ", from outside" : fmt::format(", from {}", fmt::join(names, ", "));
}

/// What came from outside is in the recording of who received it.
Result<std::string> recorded_contents(const Recording& recording, EventId event, uint64_t most) {
  EventReader reader(recording, event.thread());
  reader.skip_to(event.index());
  for (;;) {
    const Event* next = TRY(reader.next());
    if (next == nullptr || next->item.event > event.index()) return std::string();
    if (next->item.event != event.index()) continue;
    Bytes bytes(std::min(next->item.payload_length, most));
    if (!bytes.empty()) TRY_STATUS(reader.stream().copy_payload(next->item, 0, bytes));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
}

}  // namespace

Result<std::string> DebugSession::contents(EventId event, const Transfer& transfer, bool outside, uint64_t most) {
  uint64_t length = std::min<uint64_t>(transfer.length, most);
  if (outside) return recorded_contents(world_.recording, event, length);
  std::string bytes(length, '\0');
  uint64_t channel = world_.graph.channels[transfer.channel].id;
  if (engine_->now().live().read_channel(channel, transfer.begin, bytes.data(), bytes.size())) return bytes;
  return fail("nobody received this message of {}, and so its contents were not kept", event);
}

Status DebugSession::show_message(std::string_view text) {
  bool all = text == "all" || text.ends_with(" all");
  if (all) text = shell::trim(text.substr(0, text.size() - 3));
  EventId event = text.empty() ? EventId(focus_, engine_->now().events_done(focus_)) : TRY(EventId::parse(text));
  const Graph& graph = world_.graph;
  causal::Node node = TRY(graph::find_event(graph, event));
  if (engine_->here().cut[node.thread] < node.event)
    return fail("{} has not happened yet; try: run to {}", event, event);
  bool any = false;
  for (bool sent : {true, false}) {
    const causal::Column<Transfer>& transfers = sent ? graph.sends : graph.receives;
    const causal::ByThread& places = sent ? graph.sends_by_thread() : graph.receives_by_thread();
    for (uint32_t place : transfers_at(graph, places, transfers, node.thread, event.index())) {
      any = true;
      const Transfer& transfer = transfers[place];
      std::vector<Message> parts = sent ? debug::parts_of_send(graph, place) : debug::parts_of_receive(graph, place);
      bool outside = !sent && std::ranges::all_of(parts, [](const Message& part) { return part.send == kNone; });
      fmt::print("{} {} {} on channel {}{}\n", event, sent ? "sent" : "received",
                 plural(transfer.length, "byte", "bytes"), graph.channels[transfer.channel].id,
                 partners(graph, parts, sent));
      std::string bytes = TRY(contents(event, transfer, outside, all ? kMost : 2 * kShown));
      uint64_t shown = debug::is_text(bytes) ? 2 * kShown : kShown;
      if (!all && bytes.size() > shown) bytes.resize(shown);
      fmt::print("{}", debug::contents_text(bytes));
      if (bytes.size() < transfer.length)
        fmt::print("  … {} more: show message {} all\n", plural(transfer.length - bytes.size(), "byte", "bytes"), event);
    }
  }
  if (!any) return fail("{} is neither a send nor a receive; name one, as in: show message p1:17", event);
  return {};
}

Status DebugSession::show_in_transit() {
  causal::Cut cut = engine_->here().cut;
  std::vector<debug::Underway> all = debug::messages_in_transit(world_.graph, cut);
  if (all.empty()) fmt::print("no messages are in transit\n");
  for (const debug::Underway& each : all) fmt::print("{}\n", debug::describe(world_.graph, each));
  return {};
}

}  // namespace pastcone::cli
