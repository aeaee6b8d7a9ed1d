#include "pastcone/debug/sleepers.h"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <set>

#include "pastcone/debug/descriptors.h"
#include "pastcone/graph/names.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/trace/call_names.h"

namespace pastcone::debug {
namespace {

using record::load;
using stage::ThreadState;
using stage::WaitKind;

/// As glibc has it, up to what is looked at.
struct Mutex {
  int lock;
  uint32_t count;
  uint32_t owner;
  uint32_t users;
  int kind;
};
constexpr int kContended = 2;     // somebody sleeps
constexpr int kKindsEnd = 1024;
constexpr uint32_t kTidBits = 0x3fffffff;

class Looker {
 public:
  explicit Looker(Engine& engine) : run_(engine.now()), world_(engine.world()) {}

  bool at_end(ThreadId thread) const {
    const stage::ThreadSlot& slot = run_.slot(thread);
    if (run_.tid(thread) == 0 || slot.complete != 0) return false;
    if (static_cast<ThreadState>(load(slot.state)) == ThreadState::kAtEnd) return true;
    // Entering what would be its next event.
    auto index = world_.graph.find(thread);
    return index && run_.in_call(thread) && run_.steps_done(thread) == 2 * graph::last_event(world_.graph, *index) + 1;
  }

  Sleep look(ThreadId thread) {
    const stage::ThreadSlot& slot = run_.slot(thread);
    if (!run_.freeze(thread.process())) return {};
    if (static_cast<WaitKind>(slot.wait_kind) == WaitKind::kOrder) return at_lock(thread, slot.wait_for);
    auto now = run_.registers(thread);
    auto real = run_.real_registers(thread);
    if (!now || !real || !in_runtime(real->rip) || in_runtime(now->rip)) return {};
    return in_call(thread, *now);
  }

 private:
  Sleep at_lock(ThreadId thread, uint64_t address) {
    Sleep sleep;
    sleep.call = "a lock";
    wait_for_owner(thread, address, sleep);
    return sleep;
  }

  Sleep in_call(ThreadId thread, const user_regs_struct& now) {
    Sleep sleep;
    sleep.call = call_name(static_cast<uint32_t>(now.orig_rax));
    auto fd = static_cast<int>(now.rdi);
    switch (now.orig_rax) {
      case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg:
        on_descriptor(thread, fd, true, sleep);
        break;
      case SYS_write: case SYS_writev: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
        on_descriptor(thread, fd, false, sleep);
        break;
      case SYS_accept: case SYS_accept4: case SYS_connect: case SYS_flock: case SYS_fcntl:
        sleep.on = fmt::format("fd {}", fd);
        break;
      case SYS_poll:
        sleep.for_ever = static_cast<int>(now.rdx) < 0;
        on_polled(thread, now.rdi, now.rsi, sleep);
        break;
      case SYS_ppoll:
        sleep.for_ever = now.rdx == 0;
        on_polled(thread, now.rdi, now.rsi, sleep);
        break;
      case SYS_wait4:
        for_children(thread, static_cast<int32_t>(now.rdi), sleep);
        break;
      case SYS_waitid:
        for_children(thread, now.rdi == 1 ? static_cast<int32_t>(now.rsi) : -1, sleep);
        break;
      case SYS_futex:
        sleep.for_ever = now.r10 == 0;
        at_futex(thread, now, sleep);
        break;
      default:
        break;
    }
    return sleep;
  }

  /// All threads of the processes, but for the one that waits.
  void add_threads(ProcessId process, ThreadId but, Sleep& sleep) {
    const ProcessRecord* record = world_.processes.find(process);
    if (record == nullptr) return;
    for (const ThreadRecord& each : record->threads)
      if (each.id != but && run_.tid(each.id) != 0) sleep.waits_for.push_back(each.id);
  }

  void wait_on_channel(ThreadId thread, uint64_t channel, bool receives, Sleep& sleep) {
    for (ProcessId process : holders(run_, world_, channel, receives)) add_threads(process, thread, sleep);
    std::string why = fmt::format("{}, channel {}", receives ? "message" : "room", channel);
    sleep.why += sleep.why.empty() ? why : fmt::format(" or {}", channel);
  }

  void on_descriptor(ThreadId thread, int fd, bool receives, Sleep& sleep) {
    sleep.on = fmt::format("fd {}", fd);
    for (const Descriptor& each : descriptors(run_, thread.process())) {
      const auto& channel = receives ? each.receives : each.sends;
      if (each.number == fd && channel) wait_on_channel(thread, *channel, receives, sleep);
    }
  }

  void on_polled(ThreadId thread, uint64_t address, uint64_t count, Sleep& sleep) {
    constexpr uint64_t kMost = 1024;
    std::vector<pollfd> polled(std::min(count, kMost));
    if (polled.empty() || !run_.read(thread.process(), address, polled.data(), polled.size() * sizeof(pollfd))) return;
    std::vector<Descriptor> all = descriptors(run_, thread.process());
    bool only_channels = count <= kMost;
    for (const pollfd& one : polled) {
      auto found = std::ranges::find(all, one.fd, &Descriptor::number);
      if (one.fd < 0) continue;
      bool reads = (one.events & POLLIN) != 0, writes = (one.events & POLLOUT) != 0;
      bool known = found != all.end() && (!reads || found->receives) && (!writes || found->sends);
      only_channels = only_channels && known;
      if (!known) continue;
      if (reads) wait_on_channel(thread, *found->receives, true, sleep);
      if (writes) wait_on_channel(thread, *found->sends, false, sleep);
    }
    if (!only_channels) sleep.waits_for.clear();  // somebody outside may wake it as well
  }

  void for_children(ThreadId thread, int32_t pid, Sleep& sleep) {
    sleep.for_end = true;
    for (const auto& [process, record] : world_.processes.processes()) {
      bool meant = record.parent.valid() && record.parent.process() == thread.process() &&
                   (pid <= 0 || record.pid == static_cast<uint32_t>(pid));
      if (meant) add_threads(process, thread, sleep);
    }
    sleep.why = "end";
  }

  ThreadId find_tid(ThreadId near, uint32_t tid) const {
    ThreadId other;
    for (const auto& [process, record] : world_.processes.processes()) {
      for (const ThreadRecord& each : record.threads) {
        if (each.tid != tid || run_.tid(each.id) == 0) continue;
        if (process == near.process()) return each.id;
        other = each.id;
      }
    }
    return other;
  }

  bool wait_for_owner(ThreadId thread, uint64_t address, Sleep& sleep) {
    Mutex mutex{};
    if (!run_.read(thread.process(), address, &mutex, sizeof mutex)) return false;
    sleep.on = fmt::format("{:#x}", address);
    bool looks_so = mutex.kind >= 0 && mutex.kind < kKindsEnd && mutex.lock != 0;
    ThreadId owner = looks_so && mutex.owner != 0 ? find_tid(thread, mutex.owner) : ThreadId();
    if (!owner.valid()) return false;
    sleep.waits_for = {owner};
    sleep.why = fmt::format("mutex at {:#x}", address);
    sleep.on.clear();
    return true;
  }

  void at_futex(ThreadId thread, const user_regs_struct& now, Sleep& sleep) {
    uint32_t word = 0;
    sleep.on = fmt::format("{:#x}", now.rdi);
    if (!run_.read(thread.process(), now.rdi, &word, sizeof word)) return;
    auto operation = static_cast<uint32_t>(now.rsi) & 0x7f;
    bool inherits = operation == 6 || operation == 13;  // LOCK_PI, LOCK_PI2
    if (inherits || (now.rdx == kContended && word == kContended)) {
      if (wait_for_owner(thread, now.rdi, sleep)) return;
      ThreadId owner = inherits ? find_tid(thread, word & kTidBits) : ThreadId();
      if (!owner.valid()) return;
      sleep.waits_for = {owner};
      sleep.why = fmt::format("mutex at {:#x}", now.rdi);
      return;
    }
    // pthread_join sleeps at the word that the kernel clears when the thread has ended.
    ThreadId joined = word == now.rdx && word != 0 ? find_tid(thread, word) : ThreadId();
    if (!joined.valid() || joined.process() != thread.process() || joined == thread) return;
    sleep.waits_for = {joined};
    sleep.why = "end";
    sleep.for_end = true;
    sleep.on.clear();
  }

  Incarnation& run_;
  const World& world_;
};

}  // namespace

Sleeps sleepers(Engine& engine) {
  Sleeps all;
  Looker looker(engine);
  for (const auto& [thread, streams] : engine.world().recording.threads())
    if (looker.at_end(thread)) all[thread] = looker.look(thread);
  for (auto& [thread, sleep] : all) {
    std::ranges::sort(sleep.waits_for);
    sleep.waits_for.erase(std::unique(sleep.waits_for.begin(), sleep.waits_for.end()), sleep.waits_for.end());
  }
  return all;
}

}  // namespace pastcone::debug
