#include "pastcone/causal/rival_walk.h"

#include <algorithm>

#include "pastcone/causal/radix.h"

namespace pastcone::causal {

RivalWalk::RivalWalk(const Races& races) : races_(races) {
  receives_ = sorted_places(static_cast<uint32_t>(races.receives_.size()),
                            [&](uint32_t i) { return uint64_t{races.listed_[races.receives_[i].taking]}; });
  intervals_ = sorted_places(static_cast<uint32_t>(races.intervals_.size()),
                             [&](uint32_t i) { return uint64_t{races.intervals_[i].first}; });
}

const RacyReceive* RivalWalk::next() {
  if (next_receive_ == receives_.size()) return nullptr;
  const RacyReceive& receive = races_.receives_[receives_[next_receive_++]];
  uint32_t place = races_.listed_[receive.taking];
  auto interval = [&](uint32_t i) -> const Races::Interval& { return races_.intervals_[i]; };
  std::erase_if(open_, [&](uint32_t i) { return interval(i).last <= place; });
  for (; next_interval_ < intervals_.size(); ++next_interval_) {
    uint32_t i = intervals_[next_interval_];
    if (interval(i).first > place) break;
    if (interval(i).last > place) open_.push_back(i);
  }
  rivals_.clear();
  for (uint32_t i : open_) rivals_.push_back(interval(i).message);
  std::ranges::sort(rivals_);
  return &receive;
}

}  // namespace pastcone::causal
