#include "pastcone/debug/sleepers.h"

#include <poll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include <algorithm>
#include <optional>
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
    auto state = static_cast<ThreadState>(load(slot.state));
    if (state == ThreadState::kAtEnd) return true;
    // In a futex of its own, of which nothing is recorded.
    auto kind = static_cast<WaitKind>(slot.wait_kind);
    if (state == ThreadState::kWaiting && kind == WaitKind::kFutex && slot.wait_position != 0) return true;
    // Entering what would be its next event.
    auto index = world_.graph.find(thread);
    return index && run_.in_call(thread) && run_.steps_done(thread) == 2 * graph::last_event(world_.graph, *index) + 1;
  }

  Sleep look(ThreadId thread) {
    const stage::ThreadSlot& slot = run_.slot(thread);
    if (!run_.freeze(thread.process())) return {};
    if (static_cast<WaitKind>(slot.wait_kind) == WaitKind::kOrder) return at_lock(thread, slot.wait_for, slot.wait_position);
    auto now = run_.registers(thread);
    auto real = run_.real_registers(thread);
    if (!now || !real || !in_runtime(real->rip) || in_runtime(now->rip)) return {};
    return in_call(thread, *now);
  }

 private:
  /// `condition`: it waits for that first; 0: for the lock.
  Sleep at_lock(ThreadId thread, uint64_t address, uint64_t condition) {
    Sleep sleep;
    sleep.call = condition != 0 ? "a condition" : "a lock";
    if (condition != 0) {
      sleep.on = fmt::format("{:#x}", condition);
    } else if (ThreadId joined = find_handle(thread, address); joined.valid()) {
      sleep.call = "pthread_join";
      sleep.waits_for = {joined};
      sleep.why = "end";
      sleep.for_end = true;
    } else {
      wait_for_owner(thread, address, sleep);
    }
    return sleep;
  }

  /// What pthread_create has given for another thread of the process is where its $fs_base leads.
  ThreadId find_handle(ThreadId thread, uint64_t handle) {
    const ProcessRecord* record = world_.processes.find(thread.process());
    if (record == nullptr) return {};
    for (const ThreadRecord& each : record->threads) {
      if (each.id == thread || run_.tid(each.id) == 0) continue;
      auto registers = run_.real_registers(each.id);
      if (registers && registers->fs_base == handle) return each.id;
    }
    return {};
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
        on_any(thread, polled(thread, now.rdi, now.rsi), sleep);
        break;
      case SYS_ppoll:
        sleep.for_ever = now.rdx == 0;
        on_any(thread, polled(thread, now.rdi, now.rsi), sleep);
        break;
      case SYS_select: case SYS_pselect6:
        sleep.for_ever = now.r8 == 0;
        on_any(thread, selected(thread, now), sleep);
        break;
      case SYS_epoll_wait: case SYS_epoll_pwait:
        sleep.on = fmt::format("fd {}", fd);
        sleep.for_ever = static_cast<int>(now.r10) < 0;
        on_watched(thread, fd, sleep);
        break;
      case SYS_epoll_pwait2:
        sleep.on = fmt::format("fd {}", fd);
        sleep.for_ever = now.r10 == 0;
        on_watched(thread, fd, sleep);
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
    bool own = false;
    for (const Descriptor& each : descriptors(run_, thread.process())) {
      const auto& channel = receives ? each.receives : each.sends;
      if (each.number != fd || !channel) continue;
      wait_on_channel(thread, *channel, receives, sleep);
      std::vector<ProcessId> all = holders(run_, world_, *channel, receives);
      own = own || std::ranges::find(all, thread.process()) != all.end();
    }
    // Nobody else has the other end: it would have to wake itself.
    if (own && sleep.waits_for.empty()) sleep.waits_for.push_back(thread);
  }

  /// What a call waits for at one descriptor.
  struct Interest {
    int fd;
    bool reads, writes;
  };
  /// None: not known, or more than that.
  using Interests = std::optional<std::vector<Interest>>;

  Interests polled(ThreadId thread, uint64_t address, uint64_t count) {
    constexpr uint64_t kMost = 1024;
    std::vector<pollfd> all(std::min(count, kMost));
    if (all.empty() || count > kMost || !run_.read(thread.process(), address, all.data(), all.size() * sizeof(pollfd)))
      return {};
    std::vector<Interest> found;
    constexpr int kWrites = POLLOUT | POLLWRNORM;
    for (const pollfd& one : all) {
      bool reads = (one.events & ~kWrites) != 0 || one.events == 0;  // at least for its end
      if (one.fd >= 0) found.push_back({one.fd, reads, (one.events & kWrites) != 0});
    }
    return found;
  }

  Interests selected(ThreadId thread, const user_regs_struct& now) {
    enum { kToRead, kToWrite, kUrgent, kSets };
    fd_set sets[kSets];
    for (fd_set& set : sets) FD_ZERO(&set);
    const uint64_t addresses[kSets] = {now.rsi, now.rdx, now.r10};
    auto count = static_cast<int>(now.rdi);
    constexpr uint64_t kWord = 8 * sizeof(uint64_t);
    uint64_t bytes = (static_cast<uint64_t>(count) + kWord - 1) / kWord * sizeof(uint64_t);
    if (count < 0 || count > FD_SETSIZE) return {};
    for (size_t i = 0; i < kSets; ++i)
      if (addresses[i] != 0 && !run_.read(thread.process(), addresses[i], &sets[i], bytes)) return {};
    std::vector<Interest> found;
    for (int fd = 0; fd < count; ++fd) {
      bool reads = FD_ISSET(fd, &sets[kToRead]) || FD_ISSET(fd, &sets[kUrgent]);
      bool writes = FD_ISSET(fd, &sets[kToWrite]);
      if (reads || writes) found.push_back({fd, reads, writes});
    }
    return found;
  }

  void on_any(ThreadId thread, const Interests& interests, Sleep& sleep) {
    if (!interests) return;
    std::vector<Descriptor> all = descriptors(run_, thread.process());
    bool only_channels = true;
    for (const auto& [fd, reads, writes] : *interests) {
      auto found = std::ranges::find(all, fd, &Descriptor::number);
      bool known = found != all.end() && (!reads || found->receives) && (!writes || found->sends);
      only_channels = only_channels && known;
      if (!known) continue;
      if (reads) wait_on_channel(thread, *found->receives, true, sleep);
      if (writes) wait_on_channel(thread, *found->sends, false, sleep);
    }
    if (!only_channels) sleep.waits_for.clear();  // somebody outside may wake it as well
  }

  /// At an epoll instance. Of room to send it is not known whether it waits for that, so whoever could make some may wake it.
  void on_watched(ThreadId thread, int instance, Sleep& sleep) {
    std::vector<Descriptor> all = descriptors(run_, thread.process());
    bool only_channels = true;
    for (const causal::WatchInput& watch : world_.graph.watches) {
      if (watch.process != thread.process().number() || watch.set != static_cast<uint32_t>(instance)) continue;
      auto found = std::ranges::find_if(all, [&](const Descriptor& each) { return each.receives == watch.what; });
      bool known = watch.what != 0 && found != all.end();
      only_channels = only_channels && known;
      if (!known) continue;
      wait_on_channel(thread, watch.what, true, sleep);
      if (!found->sends) continue;
      for (ProcessId process : holders(run_, world_, *found->sends, false)) add_threads(process, thread, sleep);
    }
    if (!only_channels) sleep.waits_for.clear();
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
