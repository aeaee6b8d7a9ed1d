// --kind: which events are meant by a name.
#pragma once

#include <bitset>
#include <set>
#include <string>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/trace/item.h"

namespace pastcone::cli {

/// A kind is what event_kind() gives ("read", "start", "signal"), or one of the groups send, receive, file,
/// create, clock.
class KindFilter {
 public:
  /// No names: everything passes.
  static Result<KindFilter> parse(const std::vector<std::string>& names);

  bool matches(const Item& item) const;

 private:
  bool all_ = true;
  std::bitset<256> ops_;
  std::bitset<static_cast<size_t>(format::Shape::kCount)> shapes_;
  std::set<uint32_t> calls_;
};

}  // namespace pastcone::cli
