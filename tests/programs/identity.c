// Who and where: pids, tids, users, groups, host, kernel, cpu, load, limits, usage, as they are.
// e2e: varies
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>

#include "common.h"

int main(void) {
  say("pid %d tid %d parent %d group %d session %d\n", getpid(), gettid(), getppid(), getpgrp(), getsid(0));
  uid_t r, e, s;
  CHECK(getresuid(&r, &e, &s) == 0);
  gid_t groups[64];
  say("uid %u %u %u gid %u, %d groups\n", r, e, s, getgid(), getgroups(64, groups));
  struct utsname name;
  CHECK(uname(&name) == 0);
  char host[256] = "";
  CHECK(gethostname(host, sizeof host) == 0);
  say("%s %s %s %s, host %s\n", name.sysname, name.release, name.version, name.machine, host);
  cpu_set_t cpus;
  CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  unsigned cpu, node;
  CHECK(getcpu(&cpu, &node) == 0);
  say("on cpu %d (%u), %d allowed, %ld online\n", sched_getcpu(), cpu, CPU_COUNT(&cpus),
      sysconf(_SC_NPROCESSORS_ONLN));
  volatile unsigned work = 0;
  while (work < 3000000) work++;
  struct rusage usage;
  struct tms times_used;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  clock_t ticks = times(&times_used);
  say("used %ld us, %ld KB, %ld faults; times %ld %ld\n", (long)usage.ru_utime.tv_usec, usage.ru_maxrss,
      usage.ru_minflt, (long)ticks, (long)times_used.tms_utime);
  struct sysinfo info;
  double load[3];
  CHECK(sysinfo(&info) == 0 && getloadavg(load, 3) == 3);
  say("up %ld s, free %lu, processes %d, load %.2f\n", info.uptime, info.freeram, info.procs, load[0]);
  say("priority %d, page %ld, scheduler %d\n", getpriority(PRIO_PROCESS, 0), sysconf(_SC_PAGESIZE),
      sched_getscheduler(0));
  return 0;
}
