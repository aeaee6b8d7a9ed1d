#include "pastcone/graph/messages.h"

#include <algorithm>
#include <span>
#include <utility>

namespace pastcone::graph {

using causal::kNone;
using causal::Transfer;

void Messages::enter(uint32_t channel) {
  channel_ = channel;
  all_received_ = false;
  send_ = receive_ = 0;
  position_.reset();
}

std::optional<Message> Messages::next() {
  while (channel_ < until_) {
    if (!all_received_) {
      if (auto message = next_received()) return message;
      all_received_ = true;
      receive_ = 0;
      position_.reset();
    }
    if (auto message = next_missed()) return message;
    enter(channel_ + 1);
  }
  return {};
}

uint32_t Messages::send_named(uint64_t position) const {
  std::span<const Transfer> sends = graph_.sends_of(channel_);
  auto found = std::ranges::lower_bound(sends, position, {}, &Transfer::begin);
  if (found == sends.end() || found->begin != position) return kNone;
  return graph_.first_send[channel_] + static_cast<uint32_t>(found - sends.begin());
}

bool Messages::received(uint64_t position) const {
  return std::ranges::binary_search(graph_.receives_of(channel_), position, {}, &Transfer::begin);
}

std::optional<Message> Messages::next_received() {
  std::span<const Transfer> sends = graph_.sends_of(channel_), receives = graph_.receives_of(channel_);
  for (; receive_ < receives.size(); ++receive_, position_.reset()) {
    const Transfer& receive = receives[receive_];
    uint32_t place = graph_.first_receive[channel_] + receive_;
    if (graph_.channels[channel_].messages()) {
      uint32_t send = send_named(receive.begin);
      ++receive_;
      return Message{channel_, receive.begin, send == kNone ? receive.end() : graph_.sends[send].end(), send,
                     place};
    }
    uint64_t begin = position_.value_or(receive.begin), end = receive.end();
    if (begin >= end) continue;
    auto send =
        std::ranges::partition_point(sends, [&](const Transfer& each) { return each.end() <= begin; });
    Message message{channel_, begin, end, kNone, place};
    if (send != sends.end()) {
      bool sent = send->begin <= begin;
      message.end = std::min(end, sent ? send->end() : send->begin);
      if (sent) message.send = graph_.first_send[channel_] + static_cast<uint32_t>(send - sends.begin());
    }
    position_ = message.end;
    return message;
  }
  return {};
}

std::optional<Message> Messages::next_missed() {
  std::span<const Transfer> sends = graph_.sends_of(channel_), receives = graph_.receives_of(channel_);
  for (; send_ < sends.size(); ++send_, position_.reset()) {
    const Transfer& send = sends[send_];
    uint32_t place = graph_.first_send[channel_] + send_;
    if (graph_.channels[channel_].messages()) {
      if (received(send.begin)) continue;
      ++send_;
      return Message{channel_, send.begin, send.end(), place, kNone};
    }
    for (uint64_t begin = position_.value_or(send.begin); begin < send.end();) {
      while (receive_ < receives.size() && receives[receive_].end() <= begin) ++receive_;
      uint64_t taken = receive_ < receives.size() ? receives[receive_].begin : UINT64_MAX;
      if (taken <= begin) {
        begin = receives[receive_].end();
        continue;
      }
      position_ = std::min(taken, send.end());
      return Message{channel_, begin, *position_, place, kNone};
    }
  }
  return {};
}

}  // namespace pastcone::graph
