#include <algorithm>
#include <cstring>

#include "pastcone/graph/ports.h"
#include "pastcone/graph/steps.h"

namespace pastcone::graph {

using causal::Node;

namespace {

constexpr uint32_t kPoll = 7, kPpoll = 271, kSelect = 23, kPselect = 270, kEpollWait = 232, kEpollPwait = 281,
                   kEpollPwait2 = 441, kConnect = 42, kAccept = 43, kAccept4 = 288, kListen = 50;
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
  port_ = wait_ != nullptr && wait_->epoll >= 0 ? port_of_instance(wait_->epoll) : kAnyDescriptor;
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

}  // namespace pastcone::graph
