#include "pastcone/debug/descriptors.h"

#include <algorithm>

#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {
namespace {

using record::load;
using Table = std::vector<stage::Descriptor>;

Table read_table(Incarnation& run, ProcessId process) {
  if (run.pid(process) == 0 || !run.freeze(process)) return {};
  const stage::ProcessSlot& slot = run.live().stage().process(process.number());
  uint64_t address = load(slot.descriptors);
  Table all(address == 0 ? 0 : load(slot.descriptor_count));
  bool there = !all.empty() && run.read(process, address, all.data(), all.size() * sizeof all[0]);
  return there ? all : Table();
}

Descriptor describe(int number, const stage::Descriptor& known) {
  Descriptor each{number, {}, {}};
  uint64_t first = uint64_t{2} * known.object;
  switch (known.kind) {
    case stage::kDescriptorConnection:
    case stage::kDescriptorSequence:
    case stage::kDescriptorDatagram:
      each.sends = first + known.end;
      each.receives = first + 1 - known.end;
      break;
    case stage::kDescriptorFifo:
      each.sends = each.receives = first;
      break;
    default:
      break;
  }
  return each;
}

}  // namespace

std::vector<Descriptor> descriptors(Incarnation& run, ProcessId process) {
  std::vector<Descriptor> all;
  Table table = read_table(run, process);
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i].kind != 0) all.push_back(describe(static_cast<int>(i), table[i]));
  return all;
}

Result<uint64_t> incoming_channel(Incarnation& run, ProcessId process, uint64_t fd) {
  std::vector<Descriptor> all = descriptors(run, process);
  auto found = std::ranges::find(all, fd, [](const Descriptor& each) { return static_cast<uint64_t>(each.number); });
  if (found == all.end()) return fail("{} has no descriptor {} here", process, fd);
  if (found->receives) return *found->receives;
  return fail("descriptor {} of {} is no connection: nobody in the recording sends to it", fd, process);
}

std::vector<ProcessId> holders(Incarnation& run, const World& world, uint64_t channel, bool senders) {
  std::vector<ProcessId> found;
  for (const auto& [process, record] : world.processes.processes()) {
    bool holds = std::ranges::any_of(descriptors(run, process), [&](const Descriptor& each) {
      return (senders ? each.sends : each.receives) == channel;
    });
    if (holds) found.push_back(process);
  }
  return found;
}

}  // namespace pastcone::debug
