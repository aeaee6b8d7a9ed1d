#include "pastcone/debug/navigate.h"

#include <algorithm>
#include <set>

#include "pastcone/debug/message_parts.h"
#include "pastcone/debug/units.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Graph;
using causal::kNone;
using causal::Node;
using causal::Order;
using causal::Transfer;
using graph::Message;

namespace {

std::string bytes_text(uint64_t count) { return fmt::format("{} byte{}", count, count == 1 ? "" : "s"); }

uint64_t id_of(const Graph& graph, uint32_t channel) { return graph.channels[channel].id; }

/// The sends of one event of a thread.
std::vector<uint32_t> sends_at(const Graph& graph, uint32_t thread, uint64_t event) {
  std::vector<uint32_t> places;
  auto all = graph.sends_by_thread().of(thread);
  auto first = std::ranges::partition_point(
      all, [&](uint32_t place) { return graph::event_of_step(graph, graph.sends[place].at) < event; });
  for (; first != all.end() && graph::event_of_step(graph, graph.sends[*first].at) == event; ++first)
    places.push_back(*first);
  return places;
}

tl::unexpected<Error> no_send(const Graph& graph, Node here) {
  uint64_t event = graph::event_at(graph, here);
  ThreadId thread = graph.thread_id(here.thread);
  std::string text = event == 0 ? fmt::format("{} has done nothing yet", thread)
                                : fmt::format("{} is no send", EventId(thread, event));
  for (uint32_t place : graph.sends_by_thread().of(here.thread)) {
    EventId next = graph::event_of(graph, graph.sends[place].at);
    if (next.index() > event)
      return fail("{}; its next send is {}: `run to {}`, then `follow`", text, next, next);
  }
  return fail("{}, and {} sends nothing after it", text, thread);
}

std::vector<uint32_t> threads_of(const Graph& graph, uint32_t thread, bool whole_process) {
  std::vector<uint32_t> threads;
  for (uint32_t each = 0; each < graph.real_threads; ++each) {
    bool same = whole_process ? graph.threads[each].process == graph.threads[thread].process : each == thread;
    if (same) threads.push_back(each);
  }
  return threads;
}

/// Receives of these threads in the cut, in their order.
std::vector<uint32_t> receives_in(const Graph& graph, const std::vector<uint32_t>& threads, const Cut& cut) {
  std::vector<uint32_t> places;
  for (uint32_t thread : threads) {
    for (uint32_t place : graph.receives_by_thread().of(thread))
      if (graph.receives[place].at.event <= cut[thread]) places.push_back(place);
  }
  if (threads.size() > 1) {
    std::ranges::stable_sort(places, {},
                             [&](uint32_t place) { return graph.rank(graph.receives[place].at); });
  }
  return places;
}

/// Messages as `cause` counts them, the last one first.
std::vector<Message> last_messages(const Graph& graph, const Cut& cut, uint32_t thread,
                                   const CauseOptions& options, size_t most) {
  std::vector<Message> found;
  std::set<uint32_t> counted;
  std::vector<uint32_t> receives = receives_in(graph, threads_of(graph, thread, options.whole_process), cut);
  for (auto place = receives.rbegin(); place != receives.rend() && found.size() < most; ++place) {
    uint64_t channel = id_of(graph, graph.receives[*place].channel);
    bool wanted =
        options.channels.empty() || std::ranges::find(options.channels, channel) != options.channels.end();
    if (!wanted) continue;
    std::vector<Message> parts = parts_of_receive(graph, *place);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      if (part->send == kNone || counted.insert(part->send).second) found.push_back(*part);
  }
  return found;
}

std::string channels_text(const CauseOptions& options) {
  if (options.channels.empty()) return {};
  std::string text = options.channels.size() == 1 ? " on channel" : " on channels";
  for (uint64_t channel : options.channels) text += fmt::format(" {}", channel);
  return text;
}

tl::unexpected<Error> too_few(const Graph& graph, Node here, const CauseOptions& options, size_t count) {
  std::string who = options.whole_process ? to_string(graph.thread_id(here.thread).process())
                                          : to_string(graph.thread_id(here.thread));
  std::string by =
      here.event == 0 ? ", for it has not begun" : fmt::format(" by {}", graph::event_of(graph, here));
  if (count == 0) return fail("{} has received nothing{}{}", who, channels_text(options), by);
  return fail("{} has received only {} message{}{}{}; the first of them is `cause {}`", who, count,
              count == 1 ? "" : "s", channels_text(options), by, count);
}

tl::unexpected<Error> from_outside(const Graph& graph, const std::vector<Message>& messages, size_t index,
                                   const CauseOptions& options) {
  const Message& message = messages[index];
  std::string text =
      fmt::format("what {} received on channel {} came from outside: nobody in the recording sent it",
                  graph::event_of(graph, graph.receives[message.receive].at), id_of(graph, message.channel));
  for (size_t other = index + 1; other < messages.size(); ++other) {
    if (messages[other].send != kNone) return fail("{}; try `cause {}`", text, other + 1);
  }
  return fail("{}, nor anything{} before it", text, channels_text(options));
}

/// The thread's first state, or that of the program which it is in then.
Node begin_before(const Graph& graph, Node node, const std::vector<Node>& programs) {
  Node begin = graph::find_step(graph, node.thread, graph::leaving(1));
  for (Node program : programs)
    if (program.thread == node.thread && program.event < node.event) begin = program;
  return begin;
}

}  // namespace

std::string describe(const Graph& graph, const Message& message) {
  auto end = [&](bool known, const auto& transfers, uint32_t place, const char* other) {
    return known ? to_string(graph::event_of(graph, transfers[place].at)) : std::string(other);
  };
  return fmt::format("{} → {}, {}, channel {}",
                     end(message.send != kNone, graph.sends, message.send, "outside"),
                     end(message.receive != kNone, graph.receives, message.receive, "nobody"),
                     bytes_text(message.end - message.begin), id_of(graph, message.channel));
}

Result<Way> follow(const Graph& graph, const Cut& cut, uint32_t thread) {
  Node here{thread, cut[thread]};
  uint64_t event = graph::event_at(graph, here);
  std::vector<uint32_t> sends;
  if (graph::is_entering(graph, here)) sends = sends_at(graph, thread, event + 1);
  if (sends.empty() && event > 0) sends = sends_at(graph, thread, event);
  if (sends.empty()) return no_send(graph, here);
  std::vector<Message> parts;
  for (uint32_t send : sends) {
    std::vector<Message> more = parts_of_send(graph, send);
    parts.insert(parts.end(), more.begin(), more.end());
  }
  if (parts.empty()) {
    const Transfer& send = graph.sends[sends.front()];
    return fail("what {} sent, {} on channel {}, was received by nobody in the recording",
                graph::event_of(graph, send.at), bytes_text(send.length), id_of(graph, send.channel));
  }
  Node receive = graph.receives[parts.front().receive].at;
  Way way{causal::past_cone(graph, receive, Order::kEnforced), receive, parts.front()};
  way.parts = parts.size();
  way.back = cut[receive.thread] > receive.event;
  if (!way.back) join(way.cut, cut);
  return way;
}

Result<Way> cause(const Graph& graph, const Cut& cut, uint32_t thread, const CauseOptions& options) {
  if (options.last == 0)
    return fail("`cause 0` is no message; `cause` is the last one, `cause 2` the one before it");
  std::vector<Message> messages = last_messages(graph, cut, thread, options, options.last);
  if (messages.size() < options.last) return too_few(graph, {thread, cut[thread]}, options, messages.size());
  Message message = messages[options.last - 1];
  if (message.send == kNone) {
    return from_outside(graph, last_messages(graph, cut, thread, options, SIZE_MAX), options.last - 1,
                        options);
  }
  Node send = graph.sends[message.send].at;
  Cut before = causal::past_cone(graph, send, Order::kEnforced);
  before[send.thread] = send.event - 1;
  std::vector<uint32_t> receives =
      receives_in(graph, threads_of(graph, send.thread, options.whole_process), before);
  Way way{{}, begin_before(graph, send, options.programs), message};
  if (!receives.empty()) {
    way.received = receives.back();
    way.focus = graph.receives[way.received].at;
  }
  way.cut = causal::past_cone(graph, way.focus, Order::kEnforced);
  return way;
}

Result<Way> find_flow(const Graph& graph, const Flow& flow) {
  if (flow.number == 0) return fail("messages count from 1");
  auto is_of = [&](Node node, ProcessId process) {
    return graph.threads[node.thread].process == process.number();
  };
  std::vector<Message> found;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    if (!is_of({thread, 0}, flow.from)) continue;
    for (uint32_t send : graph.sends_by_thread().of(thread)) {
      for (const Message& part : parts_of_send(graph, send)) {
        if (!is_of(graph.receives[part.receive].at, flow.to)) continue;
        found.push_back(part);
        break;
      }
    }
  }
  if (found.size() < flow.number) {
    if (found.empty())
      return fail(
          "{} sent nothing that {} received; `pastcone sql 'SELECT * FROM messages'` shows who sent to whom",
          flow.from, flow.to);
    return fail("{} received {} message{} of {}, so there is no number {}", flow.to, found.size(),
                found.size() == 1 ? "" : "s", flow.from, flow.number);
  }
  auto at = [&](const Message& message) {
    return flow.receive ? graph.receives[message.receive].at : graph.sends[message.send].at;
  };
  std::ranges::stable_sort(found, {}, [&](const Message& message) { return graph.rank(at(message)); });
  const Message& message = found[flow.number - 1];
  return Way{causal::past_cone(graph, at(message), Order::kEnforced), at(message), message};
}

std::vector<Underway> messages_in_transit(const Graph& graph, const Cut& cut) {
  std::vector<Underway> all;
  for (const causal::Piece& piece : causal::in_transit(graph, cut)) {
    Underway& each = all.emplace_back(Underway{piece});
    for (const Message& part : parts_of_send(graph, piece.send)) {
      const Transfer& receive = graph.receives[part.receive];
      bool common = graph.channels[part.channel].messages() || part.end > piece.begin;
      if (!common || receive.at.event <= cut[receive.at.thread]) continue;
      each.receive = part.receive;
      break;
    }
  }
  return all;
}

std::string describe(const Graph& graph, const Underway& message) {
  const Transfer& send = graph.sends[message.piece.send];
  std::string later =
      message.receive == kNone
          ? "never received"
          : fmt::format("received later by {}", graph::event_of(graph, graph.receives[message.receive].at));
  return fmt::format("{} of {}, channel {}, {}", bytes_text(message.piece.end - message.piece.begin),
                     graph::event_of(graph, send.at), id_of(graph, send.channel), later);
}

}  // namespace pastcone::debug
