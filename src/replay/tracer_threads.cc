// Stopping and resuming.
#include <dirent.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "pastcone/replay/session.h"
#include "pastcone/replay/tracer_parts.h"

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;

constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACESYSGOOD |
                          PTRACE_O_EXITKILL;
constexpr int kSpins = 20;  // before it sleeps
constexpr int kLooks =
    60;  // before one that sleeps in the kernel uninterruptibly is believed to go on doing so

std::vector<pid_t> list_threads(pid_t process) {
  std::vector<pid_t> found;
  DIR* tasks = opendir(fmt::format("/proc/{}/task", process).c_str());
  if (tasks == nullptr) return found;
  while (dirent* entry = readdir(tasks)) {
    if (pid_t id = std::atoi(entry->d_name); id > 0) found.push_back(id);
  }
  closedir(tasks);
  return found;
}

/// Processes that a thread has created.
std::vector<pid_t> list_children(pid_t process, pid_t thread) {
  std::vector<pid_t> found;
  auto text = read_file(fmt::format("/proc/{}/task/{}/children", process, thread));
  if (!text) return found;
  const char* at = text->c_str();
  char* end = nullptr;
  for (long id = std::strtol(at, &end, 10); end != at; id = std::strtol(at = end, &end, 10))
    found.push_back(static_cast<pid_t>(id));
  return found;
}

}  // namespace

pid_t wait_for(pid_t thread, int& status, int options) {
  pid_t got;
  do {
    got = waitpid(thread, &status, options | __WALL);
  } while (got < 0 && errno == EINTR);
  return got;
}

void pause_a_moment(int& times) {
  if (++times <= kSpins) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::min(20us * (times - kSpins), 500us));
  }
}

std::optional<pid_t> status_number(pid_t thread, const char* name) {
  auto text = read_file(fmt::format("/proc/{}/status", thread));
  if (!text) return std::nullopt;
  size_t at = text->find(fmt::format("\n{}:", name));
  if (at == std::string::npos) return std::nullopt;
  return std::atoi(text->c_str() + at + std::strlen(name) + 2);
}

Tracer::ThreadRef Tracer::insert(Process& process, pid_t id) {
  auto thread = std::make_shared<Thread>();
  thread->id = id;
  thread->process = processes_.at(process.id);
  threads_[id] = process.threads[id] = thread;
  return thread;
}

void Tracer::forget(Thread& thread) {
  come_back(thread);
  thread.gone = true;
  thread.stands = false;
  if (auto process = thread.process.lock()) process->threads.erase(thread.id);
  threads_.erase(thread.id);
}

void Tracer::forget_process(Process& process) {
  process.ended = true;
  auto all = process.threads;
  for (auto& [id, thread] : all) forget(*thread);
  for (const auto& [address, count] : process.breaks) {
    for (int i = 0; i < count; ++i) process.memory->remove(address);
  }
  process.breaks.clear();
  std::erase_if(stops_, [&](const TraceStop& stop) { return stop.process == process.id; });
  processes_.erase(process.id);
}

Status Tracer::seize_all(Process& process) {
  for (bool more = true; more;) {
    more = false;
    for (pid_t id : list_threads(process.id)) {
      if (threads_.contains(id)) continue;
      if (ptrace(PTRACE_SEIZE, id, nullptr, kOptions) != 0) {
        int error = errno;
        // Dead; or created meanwhile by one that is traced already, which will be told.
        bool ignored =
            error == ESRCH || !Session::thread_state(id) || status_number(id, "TracerPid") == getpid();
        if (ignored) continue;
        return fail("process {} cannot be traced: {}", process.id, errno_message(error));
      }
      insert(process, id);
      more = true;
    }
    halt(process);
    if (process.ended) return fail("process {} has ended", process.id);
  }
  if (process.threads.empty()) return fail("there is no process {}", process.id);
  for (const auto& [id, thread] : process.threads) {
    for (pid_t child : list_children(process.id, id)) {
      if (!traces(child) && share_memory(process.id, child)) process.memory->add_stranger(child);
    }
  }
  return {};
}

/// For one that was asked to: it waits for the child of its vfork, or is dead but for the other threads.
bool Tracer::cannot_stop(const Thread& thread) const {
  auto state = Session::thread_state(thread.id);
  return !state || *state == 'D';
}

void Tracer::halt(Process& process) {
  ProcessRef keep = processes_.at(process.id);
  process.halting = true;
  int times = 0;
  for (bool all = false; !all && !process.ended;) {
    all = true;
    auto threads = process.threads;
    for (auto& [id, thread] : threads) {
      if (thread->stands || thread->stuck || thread->gone) continue;
      if (!thread->interrupted) {
        thread->interrupted = true;
        ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
      }
      int status = 0;
      pid_t got = wait_for(id, status, WNOHANG);
      if (got == id) {
        bool ours = take(id, status);
        if (!ours && on_end) on_end(id, status);
      } else if (got < 0) {
        forget(*thread);
      }
      if (thread->stands || thread->gone) continue;
      bool patient = times < kSpins || (times < kLooks && Session::thread_state(id) == 'D');
      thread->stuck = !patient && cannot_stop(*thread);
      all = all && thread->stuck;
    }
    if (!all) pause_a_moment(times);
  }
  process.halting = false;
  process.stands = !process.ended;
}

void Tracer::resume(Thread& thread) {
  if (!thread.stands || thread.held) return;
  come_back(thread);
  thread.stands = false;
  if (thread.in_group_stop) {
    ptrace(PTRACE_LISTEN, thread.id, nullptr, nullptr);
    return;
  }
  if (thread.info) ptrace(PTRACE_SETSIGINFO, thread.id, nullptr, &*thread.info);
  thread.info.reset();
  auto signal = static_cast<long>(std::exchange(thread.signal, 0));
  if (thread.stepping) prepare_step(thread);
  bool single = thread.stepping || thread.passing;
  // Fails only if somebody kills it; then that is what waitpid says next.
  ProcessRef process = thread.process.lock();
  bool calls_too = thread.in_handler || process->pages_due || process->guards();
  auto how = calls_too ? PTRACE_SYSCALL : PTRACE_CONT;
  ptrace(single ? PTRACE_SINGLESTEP : how, thread.id, nullptr, signal);
}

void Tracer::detach(Thread& thread) {
  come_back(thread);
  if (!thread.process.lock()->watches.empty()) (void)Watchpoints().apply(thread.id, thread.watching);
  if (thread.info) ptrace(PTRACE_SETSIGINFO, thread.id, nullptr, &*thread.info);
  ptrace(PTRACE_DETACH, thread.id, nullptr, static_cast<long>(thread.signal));
  forget(thread);
}

}  // namespace pastcone::replay
