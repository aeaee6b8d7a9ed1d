// Functions of libc that have a lock of their own, inlined, and either make calls while they have it, which others may have to wait for, or
// give something that depends on who came first.
#include "horizon.h"
#include "ordered.h"
#include "turn.h"

namespace pastcone::runtime {
namespace {

/// What stands for each lock: only its address counts.
u64 forks, numbers, time_zone, ends, messages, names;

template <typename... Arguments>
long in_order(const u64& lock, Hook hook, Arguments... arguments) {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original<long>(hook, arguments...);
  return call_holding<long>(t, (u64)&lock, hook, arguments...);
}

// fork has the locks of the list of streams and of the name service while it makes its call, and nobody knows in which order others have
// them. So in replay it comes to them when its call is due, and is held up only where it has given them back.

/// After the program's own handlers.
void before_locks_of_fork() {
  Thread& t = current();
  if (!g.replay || !is_ordered(t, false)) return;
  await_next_event(t);
  t.forks = true;
}

/// Before them; in the child too.
void after_locks_of_fork() {
  Thread& t = current();
  if (!t.forks) return;
  t.forks = false;
  park_on_leaving(t);
}

/// Handlers are called in the order in which they were registered, those before the call in the opposite one: ours are the first.
void register_own_handlers() {
  static u32 done;
  if (!swap_if(done, 0u, 1u)) return;
  call_original(Hook::__register_atfork, before_locks_of_fork, after_locks_of_fork, after_locks_of_fork, nullptr);
}

}  // namespace

extern "C" {

int hook_fork() {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original(Hook::fork);
  int result;
  hold(t, (u64)&forks, [&] {
    register_own_handlers();
    result = call_original(Hook::fork);
  });
  return result;
}

int hook___register_atfork(void (*before)(), void (*in_parent)(), void (*in_child)(), void* library) {
  register_own_handlers();
  return call_original(Hook::__register_atfork, before, in_parent, in_child, library);
}

// As many arguments as there may be, whatever they are.
#define IN_ORDER(lock, name) \
  long hook_##name(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) { return in_order(lock, Hook::name, a, b, c, d, e, f); }

IN_ORDER(numbers, random)
IN_ORDER(numbers, srandom)

IN_ORDER(time_zone, localtime)
IN_ORDER(time_zone, localtime_r)
IN_ORDER(time_zone, gmtime)
IN_ORDER(time_zone, gmtime_r)
IN_ORDER(time_zone, mktime)
IN_ORDER(time_zone, tzset)

IN_ORDER(ends, __cxa_atexit)
IN_ORDER(ends, __cxa_at_quick_exit)
IN_ORDER(ends, on_exit)

IN_ORDER(messages, openlog)
IN_ORDER(messages, closelog)
IN_ORDER(messages, setlogmask)
IN_ORDER(messages, vsyslog)
IN_ORDER(messages, __vsyslog_chk)
long hook_v_syslog(u64 priority, u64 format, u64 list) { return in_order(messages, Hook::vsyslog, priority, format, list); }
long hook_v___syslog_chk(u64 priority, u64 flag, u64 format, u64 list) {
  return in_order(messages, Hook::__vsyslog_chk, priority, flag, format, list);
}

// Of users, groups and services: several threads may ask at once, but the configuration is read under a lock.
IN_ORDER(names, getpwnam)
IN_ORDER(names, getpwnam_r)
IN_ORDER(names, getpwuid)
IN_ORDER(names, getpwuid_r)
IN_ORDER(names, getpwent)
IN_ORDER(names, getpwent_r)
IN_ORDER(names, setpwent)
IN_ORDER(names, endpwent)
IN_ORDER(names, getgrnam)
IN_ORDER(names, getgrnam_r)
IN_ORDER(names, getgrgid)
IN_ORDER(names, getgrgid_r)
IN_ORDER(names, getgrent)
IN_ORDER(names, getgrent_r)
IN_ORDER(names, setgrent)
IN_ORDER(names, endgrent)
IN_ORDER(names, initgroups)
IN_ORDER(names, getgrouplist)
IN_ORDER(names, getservbyname)
IN_ORDER(names, getservbyname_r)
IN_ORDER(names, getservbyport)
IN_ORDER(names, getservbyport_r)
IN_ORDER(names, getprotobyname)
IN_ORDER(names, getprotobyname_r)
IN_ORDER(names, getprotobynumber)
IN_ORDER(names, getprotobynumber_r)

#undef IN_ORDER

}  // extern "C"
}  // namespace pastcone::runtime
