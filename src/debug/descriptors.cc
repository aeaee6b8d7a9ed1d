#include "pastcone/debug/descriptors.h"

#include <algorithm>

#include "pastcone/patch/thread_abi.h"

namespace pastcone::debug {
namespace {

// As src/runtime/fds.h has them.
enum class FdKind : uint8_t { kConnection = 3, kOutput = 5, kFifo = 6, kSequence = 7, kDatagram = 8 };
struct Fd {
  uint8_t kind, end, cloexec, flags;
  uint32_t object;
};
struct FdTable {
  uint64_t of;
  uint32_t size;
};
static_assert(sizeof(Fd) == 8);
constexpr uint32_t kMostFds = 1 << 20;

std::vector<Fd> read_table(Incarnation& run, ProcessId process) {
  if (run.pid(process) == 0 || !run.freeze(process)) return {};
  for (pid_t tid : run.tracer().threads(run.pid(process))) {
    auto registers = run.tracer().registers(tid);
    uint64_t address = 0;
    FdTable table{};
    bool found = registers && run.read(process, registers->gs_base + THREAD_PROCESS, &address, sizeof address) &&
                 run.read(process, address + PROCESS_FDS, &table, sizeof table);
    if (!found || table.size > kMostFds) continue;
    std::vector<Fd> all(table.size);
    if (!all.empty() && run.read(process, table.of, all.data(), all.size() * sizeof(Fd))) return all;
  }
  return {};
}

Descriptor describe(int number, const Fd& fd) {
  Descriptor each{number, static_cast<FdKind>(fd.kind) == FdKind::kOutput, {}, {}};
  uint64_t first = uint64_t{2} * fd.object;
  switch (static_cast<FdKind>(fd.kind)) {
    case FdKind::kConnection:
    case FdKind::kSequence:
    case FdKind::kDatagram:
      each.sends = first + fd.end;
      each.receives = first + 1 - fd.end;
      break;
    case FdKind::kFifo:
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
  std::vector<Fd> table = read_table(run, process);
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i].kind != 0) all.push_back(describe(static_cast<int>(i), table[i]));
  return all;
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
