#include "pastcone/graph/ports.h"

#include <algorithm>
#include <cstring>

#include "pastcone/graph/steps.h"

namespace pastcone::graph {

using causal::Execution;
using causal::kNone;
using causal::Node;
using causal::Transfer;

int32_t Ports::Waits::port_of(int32_t descriptor) const {
  for (auto found = together.find(descriptor); found != together.end() && found->second != descriptor;
       found = together.find(descriptor)) {
    descriptor = found->second;
  }
  return descriptor;
}

void Ports::Waits::join(int32_t a, int32_t b) {
  a = port_of(a);
  together[port_of(b)] = a;
  together[a] = a;
}

/// What came on a channel that somebody waited for.
struct Ports::Lane {
  uint32_t place = 0;  ///< of the channel in the execution's
  uint32_t sender = kNone, receiver = kNone;
  bool contested = false;
  std::vector<Transfer> sends, receives;  ///< by position

  void add(std::vector<Transfer> Lane::*list, uint32_t Lane::*thread, const Transfer& transfer) {
    contested = contested || (this->*thread != kNone && this->*thread != transfer.at.thread);
    this->*thread = transfer.at.thread;
    (this->*list).push_back(transfer);
  }
};

/// Each channel that was chosen once is a lane of the port.
void Ports::add_polled(uint32_t thread, Waits& waits, const std::map<uint64_t, Lane>& lanes,
                       Execution& execution) const {
  std::map<int32_t, std::vector<const Lane*>> ports;
  for (const auto& [channel, receives] : waits.chosen) {
    for (const auto& [event, port] : receives) waits.join(receives.begin()->second, port);
  }
  for (const auto& [channel, receives] : waits.chosen) {
    const Lane& lane = lanes.at(channel);
    if (lane.contested || lane.receiver != thread || lane.sends.empty()) continue;
    ports[waits.port_of(receives.begin()->second)].push_back(&lane);
  }
  for (const auto& [ignored, channels] : ports) {
    if (channels.size() < 2) continue;
    auto port = static_cast<uint32_t>(execution.ports.size());
    execution.ports.push_back({kPolled, 0, 0});
    for (const Lane* lane : channels) {
      const causal::ChannelInput& channel = execution.channels[lane->place];
      auto take = [&](Node at, bool any) {
        execution.takings.push_back(
            {static_cast<uint32_t>(execution.arrivals.size()) - 1, at, kNone, uint32_t{any}});
      };
      if (auto opened = waits.opened.find(channel.id / 2); opened != waits.opened.end()) {
        // Nothing can be had of it before, whenever it was sent.
        execution.arrivals.push_back({port, lane->place, 0, {thread, opened->second}});
        take({thread, opened->second}, false);
      }
      const auto& chosen = waits.chosen.at(channel.id);
      uint32_t last = 0;
      size_t next = 0;
      for (const Transfer& send : lane->sends) {
        const auto& receives = lane->receives;
        execution.arrivals.push_back({port, lane->place, 0, send.at});
        auto before = [&](const Transfer& receive) {
          return channel.messages ? receive.begin < send.begin : receive.end() <= send.begin;
        };
        while (next < receives.size() && before(receives[next])) ++next;
        if (next == receives.size()) continue;
        const Transfer& receive = receives[next];
        if (channel.messages ? receive.begin != send.begin : receive.begin > send.begin) continue;
        take(receive.at, receive.at.event != last && chosen.contains(receive.at.event));
        last = receive.at.event;
      }
    }
  }
}

/// The nearest of the process and its ancestors that has listened; itself, if none has.
uint32_t Ports::listener(uint32_t thread, const Execution& execution) const {
  uint32_t own = execution.threads[thread].id.process().number();
  for (uint32_t steps = 0; steps <= execution.threads.size(); ++steps) {
    uint32_t process = execution.threads[thread].id.process().number();
    if (listeners_.contains(process)) return process;
    if (execution.threads[thread].creator.event == 0) break;
    thread = execution.threads[thread].creator.thread;
  }
  return own;
}

void Ports::add_listening(Execution& execution) const {
  struct Connection {
    uint64_t number;
    Node connect, accept;
  };
  std::map<uint64_t, std::vector<Connection>> ports;
  for (const Accept& accept : accepts_) {
    auto connect = connects_.find(accept.connection);
    if (connect == connects_.end()) continue;
    uint64_t place = accept.listener != 0 ? accept.listener : listener(accept.at.thread, execution);
    ports[place].push_back({accept.connection, connect->second, accept.at});
  }
  for (const auto& [ignored, connections] : ports) {
    if (connections.size() < 2) continue;
    auto port = static_cast<uint32_t>(execution.ports.size());
    execution.ports.push_back({kListening, 1, 0});
    for (const Connection& each : connections) {
      auto arrival = static_cast<uint32_t>(execution.arrivals.size());
      execution.arrivals.push_back({port, static_cast<uint32_t>(each.number), 0, each.connect});
      execution.takings.push_back({arrival, each.accept, kNone, 1});
    }
  }
}

void Ports::finish(Execution& execution) && {
  std::map<uint64_t, Lane> lanes;
  for (const auto& [thread, waits] : waits_) {
    for (const auto& [channel, receives] : waits.chosen) lanes[channel];
  }
  if (!lanes.empty()) {
    std::vector<Lane*> wanted(execution.channels.size(), nullptr);
    for (uint32_t place = 0; place < wanted.size(); ++place) {
      auto lane = lanes.find(execution.channels[place].id);
      if (lane == lanes.end()) continue;
      wanted[place] = &lane->second;
      lane->second.place = place;
    }
    for (const Transfer& each : execution.sends) {
      if (Lane* lane = wanted[each.channel]) lane->add(&Lane::sends, &Lane::sender, each);
    }
    for (const Transfer& each : execution.receives) {
      if (Lane* lane = wanted[each.channel]) lane->add(&Lane::receives, &Lane::receiver, each);
    }
    for (auto& [channel, lane] : lanes) {
      std::ranges::stable_sort(lane.sends, {}, &Transfer::begin);
      std::ranges::stable_sort(lane.receives, {}, &Transfer::begin);
    }
    for (auto& [thread, waits] : waits_) add_polled(thread, waits, lanes, execution);
  }
  add_listening(execution);
}

namespace {

constexpr uint32_t kPoll = 7, kPpoll = 271, kSelect = 23, kPselect = 270, kEpollWait = 232, kEpollPwait = 281,
                   kEpollPwait2 = 441, kConnect = 42, kAccept = 43, kAccept4 = 288, kListen = 50;
constexpr int32_t kAnyDescriptor = -1;  // that select was asked about, or an epoll instance that is not known

}  // namespace

/// pollfd: i32 fd, u16 events, u16 revents.
Status PortScan::poll(StreamReader& reader, const Item& item) {
  constexpr size_t kEntry = 8, kEvents = 4, kFound = 6;
  constexpr uint16_t kToRead = 0x1 | 0x2 | 0x40 | 0x80 | 0x2000;  // POLLIN, PRI, RDNORM, RDBAND, RDHUP
  ByteView entries = TRY(reader.payload(item));
  size_t asked = 0;
  int64_t ready = 0;
  bool joined = true;
  for (size_t at = 0; at + kEntry <= entries.size(); at += kEntry) {
    int32_t descriptor = 0;
    uint16_t events = 0, found = 0;
    std::memcpy(&descriptor, entries.data() + at, sizeof descriptor);
    std::memcpy(&events, entries.data() + at + kEvents, sizeof events);
    std::memcpy(&found, entries.data() + at + kFound, sizeof found);
    if (descriptor < 0 || (events & kToRead) == 0) continue;
    if (asked == asked_.size()) asked_.push_back(~descriptor);
    if (asked_[asked] != descriptor) {  // mostly they are those of the last time
      asked_[asked] = descriptor;
      joined = false;
    }
    ++asked;
    ready += found != 0;
  }
  if (asked == 0) return {};
  port_ = asked_[0];
  if (!joined || asked != asked_.size()) {
    asked_.resize(asked);
    for (int32_t descriptor : asked_) {
      if (waits_.port_of(port_) != waits_.port_of(descriptor)) waits_.join(port_, descriptor);
    }
  }
  ready_ = asked > 1 ? ready : 0;
  return {};
}

Status PortScan::wait(StreamReader& reader, const Item& item) {
  used_.clear();
  ready_ = 0;
  wait_ = told_.known() ? &told_.at({index_, leaving(item.event)}) : nullptr;
  if (item.result <= 0) return {};
  if (item.call == kPoll || item.call == kPpoll) return poll(reader, item);
  ready_ = item.result;
  port_ = wait_ != nullptr && wait_->epoll >= 0 ? kAnyDescriptor - 1 - wait_->epoll : kAnyDescriptor;
  return {};
}

/// Whether the last wait told of this channel, and nothing was had of it since.
bool PortScan::chosen(uint64_t channel) {
  if (wait_ != nullptr && std::ranges::find(wait_->sources, channel) == wait_->sources.end()) return false;
  return static_cast<int64_t>(used_.size()) < ready_ && used_.insert(channel).second;
}

void PortScan::open(const Item& item, Node at) {
  if (item.channel == 0) return;  // not between recorded processes
  uint64_t channel = item.channel - 1;
  waits_.opened.emplace(channel / 2, at.event);
  if (item.call == kConnect)
    ports_.add_connect(channel / 2, before(at));  // which may end later than the accept
  if (item.call != kAccept && item.call != kAccept4) return;
  ports_.add_accept(channel / 2, at, told_.listener(at));
  chosen(channel);  // nothing is received on the channel that it sends on
}

Status PortScan::take(StreamReader& reader, const Item& item) {
  if (!item.is_call()) return {};
  Node at{index_, leaving(item.event)};
  switch (item.shape) {
    case format::Shape::kReceive:
    case format::Shape::kMessage:
      if (item.result >= 0 && chosen(item.channel)) waits_.chosen[item.channel][at.event] = port_;
      return {};
    case format::Shape::kOpen:
      open(item, at);
      return {};
    default:
      break;
  }
  switch (item.call) {
    case kPoll:
    case kPpoll:
    case kSelect:
    case kPselect:
    case kEpollWait:
    case kEpollPwait:
    case kEpollPwait2:
      return wait(reader, item);
    case kListen:
      if (item.result == 0) ports_.add_listen(process_);
      return {};
    default:
      return {};
  }
}

std::optional<uint64_t> channel_of(const causal::Graph& graph, const causal::Contests& contests,
                                   uint32_t message) {
  const causal::ContestMessage& found = contests.messages[message];
  const causal::Contest& contest = contests.list[found.contest];
  if (!contest.port) return graph.channels[contest.place].id;
  if (graph.ports[contest.place].label != kPolled || found.lane >= graph.channels.size()) return {};
  return graph.channels[found.lane].id;
}

}  // namespace pastcone::graph
