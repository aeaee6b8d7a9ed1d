// Threads that fork, ask for random numbers, for the time and for users, log and prepare the end at once: in locks of libc.
// e2e: varies parallel
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <sys/syslog.h>

#include "common.h"

enum { kThreads = 4, kRounds = 12 };

static void at_end(int status, void* arg) {
  (void)status;
  say("end %ld\n", (long)arg);
}

static unsigned long ask_for_times(int round) {
  time_t now = 1000000000 + round;
  struct tm parts;
  if (round % 4 == 0) tzset();
  CHECK(gmtime_r(&now, &parts) != NULL && localtime_r(&now, &parts) != NULL);
  return (unsigned long)parts.tm_hour * 31 + (unsigned long)mktime(&parts);
}

static unsigned long ask_for_users(int round) {
  struct passwd user, *found_user;
  struct group group, *found_group;
  char room[4096];
  CHECK(getpwuid_r(0, &user, room, sizeof room, &found_user) == 0);
  if (round % 3 == 0) CHECK(getpwnam("daemon") != NULL);
  CHECK(getgrgid_r(0, &group, room, sizeof room, &found_group) == 0);
  return found_group != NULL ? (unsigned long)found_group->gr_name[0] : 0;
}

static unsigned long run_others(int round) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(round);
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  for (int i = 0; i < 20; i++) {
    FILE* file = fopen("/dev/null", "r");
    CHECK(file != NULL && fgetc(file) == EOF && fclose(file) == 0);
  }
  return (unsigned long)status;
}

static void* body(void* arg) {
  unsigned long* seen = arg;
  long me = (long)*seen;
  for (int i = 0; i < kRounds; i++) {
    for (int k = 0; k < 50; k++) *seen = *seen * 31 + (unsigned long)random();
    *seen = *seen * 31 + ask_for_times(i);
    *seen = *seen * 31 + ask_for_users(i);
    *seen = *seen * 31 + run_others(i);
    syslog(LOG_DEBUG, "thread %ld, round %d", me, i);
    if (i % 4 == 0) CHECK(on_exit(at_end, (void*)(me * 100 + i)) == 0);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  unsigned long seen[kThreads];
  openlog("inner", LOG_PERROR, LOG_USER);
  for (unsigned long i = 0; i < kThreads; i++) {
    seen[i] = i;
    CHECK(pthread_create(&threads[i], NULL, body, &seen[i]) == 0);
  }
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < kThreads; i++) say("%lx\n", seen[i]);
  exit(0);
}
