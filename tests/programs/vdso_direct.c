// The vDSO called past libc, by symbols found in its own image, as language runtimes do.
// e2e: varies
#include <dlfcn.h>
#include <sys/time.h>

#include "common.h"

int main(void) {
  void* vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (vdso == NULL) {
    say("no vDSO here\n");
    return 0;
  }
  int (*gettime)(clockid_t, struct timespec*) =
      (int (*)(clockid_t, struct timespec*))dlsym(vdso, "__vdso_clock_gettime");
  int (*getcpu)(unsigned*, unsigned*, void*) =
      (int (*)(unsigned*, unsigned*, void*))dlsym(vdso, "__vdso_getcpu");
  time_t (*get_time)(time_t*) = (time_t(*)(time_t*))dlsym(vdso, "__vdso_time");
  CHECK(gettime != NULL && getcpu != NULL && get_time != NULL);
  struct timespec now;
  unsigned cpu, node;
  CHECK(gettime(CLOCK_REALTIME, &now) == 0 && getcpu(&cpu, &node, NULL) == 0);
  say("%ld.%09ld, time %ld, cpu %u of node %u\n", (long)now.tv_sec, now.tv_nsec, (long)get_time(NULL), cpu,
      node);
  return 0;
}
