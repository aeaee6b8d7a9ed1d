#include "pastcone/replay/same_cpu.h"

#include <utility>

namespace pastcone::replay {
namespace {

constexpr int kManyHits = 32;
constexpr auto kQuiet = std::chrono::milliseconds(20);

cpu_set_t only(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return one;
}

}  // namespace

void SameCpu::note_hit(pid_t id) {
  Thread& thread = threads_[id];
  if (++thread.hits % kManyHits != 0) return;
  hit_at_ = Clock::now();
  bool quick = hit_at_ - std::exchange(thread.looked_at, hit_at_) < kQuiet;
  if (quick && !thread.bound) bind(id, thread);
}

void SameCpu::bind(pid_t id, Thread& thread) {
  int cpu = cpu_ >= 0 ? cpu_ : sched_getcpu();
  if (cpu < 0 || sched_getaffinity(id, sizeof thread.before, &thread.before) != 0 ||
      !CPU_ISSET(cpu, &thread.before)) {
    return;
  }
  cpu_set_t one = only(cpu);
  if (cpu_ < 0) {
    if (sched_getaffinity(0, sizeof ours_, &ours_) != 0 || sched_setaffinity(0, sizeof one, &one) != 0)
      return;
    cpu_ = cpu;
  }
  thread.bound = sched_setaffinity(id, sizeof one, &one) == 0;
}

void SameCpu::note_child(pid_t id, pid_t child) const {
  auto thread = threads_.find(id);
  if (thread != threads_.end() && thread->second.bound)
    sched_setaffinity(child, sizeof thread->second.before, &thread->second.before);
}

void SameCpu::release() {
  for (const auto& [id, thread] : threads_) {
    if (thread.bound) sched_setaffinity(id, sizeof thread.before, &thread.before);
  }
  threads_.clear();
  if (std::exchange(cpu_, -1) >= 0) sched_setaffinity(0, sizeof ours_, &ours_);
}

void SameCpu::release_if_quiet() {
  if (cpu_ >= 0 && Clock::now() - hit_at_ > kQuiet) release();
}

}  // namespace pastcone::replay
