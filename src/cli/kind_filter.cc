#include "pastcone/cli/kind_filter.h"

#include "pastcone/base/suggest.h"
#include "pastcone/trace/call_names.h"

namespace pastcone::cli {
namespace {

using format::Op;
using format::Shape;

struct Group {
  const char* name;
  std::vector<Shape> shapes;
  std::vector<Op> ops;
  std::vector<const char*> calls;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"send", {Shape::kSend}, {}, {}},
      {"receive", {Shape::kReceive, Shape::kMessage}, {}, {}},
      {"file", {Shape::kFile}, {}, {}},
      {"create", {Shape::kCreate}, {}, {}},
      {"clock",
       {},
       {Op::kClock, Op::kRealtime, Op::kMonotonic, Op::kTimeOfDay, Op::kTime, Op::kTsc},
       {"clock_gettime", "gettimeofday", "time"}},
  };
  return all;
}

constexpr Op kEventOps[] = {Op::kStart,     Op::kExec,      Op::kThreadExit, Op::kExitGroup,
                            Op::kSignal,    Op::kAsync,     Op::kClock,      Op::kRealtime,
                            Op::kMonotonic, Op::kTimeOfDay, Op::kTime,       Op::kTsc,
                            Op::kRandom,    Op::kFatal,     Op::kStop,       Op::kFault};

std::string op_name(Op op) {
  Item item;
  item.op = op;
  return std::string(kind_name(item));
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Group& group : groups()) names.emplace_back(group.name);
  for (Op op : kEventOps) names.push_back(op_name(op));
  for (uint32_t number = 0; number < 1024; ++number) {
    if (!call_name(number).empty()) names.emplace_back(call_name(number));
  }
  return names;
}

}  // namespace

Result<KindFilter> KindFilter::parse(const std::vector<std::string>& names) {
  KindFilter filter;
  filter.all_ = names.empty();
  for (const std::string& name : names) {
    bool known = false;
    for (const Group& group : groups()) {
      if (name != group.name) continue;
      known = true;
      for (Shape shape : group.shapes) filter.shapes_.set(static_cast<size_t>(shape));
      for (Op op : group.ops) filter.ops_.set(static_cast<size_t>(op));
      for (const char* call : group.calls) filter.calls_.insert(call_number(call).value_or(0));
    }
    for (Op op : kEventOps) {
      if (name != op_name(op)) continue;
      known = true;
      filter.ops_.set(static_cast<size_t>(op));
    }
    if (auto number = call_number(name)) {
      known = true;
      filter.calls_.insert(*number);
    }
    if (known) continue;
    std::string nearest = suggest(name, all_names());
    return fail("there is no kind of event called '{}'; {}", name,
                nearest.empty() ? "`pastcone info` lists those that occur"
                                : fmt::format("did you mean {}?", nearest));
  }
  return filter;
}

bool KindFilter::matches(const Item& item) const {
  if (all_) return true;
  if (!item.is_call()) return ops_.test(static_cast<size_t>(item.op));
  return shapes_.test(static_cast<size_t>(item.shape)) || calls_.contains(item.call);
}

}  // namespace pastcone::cli
