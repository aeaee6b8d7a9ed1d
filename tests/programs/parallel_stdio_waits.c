// Streams with which somebody waits: readers keep nobody from printing, a child prints though others were about to.
// e2e: varies stdin=20
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static FILE *quiet, *voice;
static char buffers[4][4096];

static void *use_quiet(void *argument) {
  char line[64];
  CHECK(fgets(line, sizeof line, quiet));
  printf("%s got %s", (char *)argument, line);
  return 0;
}

static void *read_input(void *argument) {
  char line[64];
  for (int i = 0; i < 5; ++i)
    if (fgets(line, sizeof line, stdin)) printf("%s: %s", (char *)argument, line);
  return 0;
}

static void *chatter(void *argument) {
  for (int i = 0; i < 300; ++i) fprintf(stdout, "%s %d\n", (char *)argument, i);
  return 0;
}

int main(void) {
  int pipe_fds[2];
  CHECK(pipe(pipe_fds) == 0);
  quiet = fdopen(pipe_fds[0], "r");
  voice = fdopen(pipe_fds[1], "w");
  setvbuf(quiet, buffers[0], _IOFBF, sizeof buffers[0]);  // so that no thread allocates
  setvbuf(voice, buffers[1], _IOLBF, sizeof buffers[1]);
  setvbuf(stdin, buffers[2], _IOFBF, sizeof buffers[2]);
  setvbuf(stdout, buffers[3], _IOFBF, sizeof buffers[3]);
  pthread_t readers[3], users[2], talkers[2];
  pthread_create(&users[0], 0, use_quiet, "d");
  pthread_create(&users[1], 0, use_quiet, "e");
  pthread_create(&readers[0], 0, read_input, "a");
  pthread_create(&readers[1], 0, read_input, "b");
  pthread_create(&readers[2], 0, read_input, "c");
  for (int i = 0; i < 3; ++i) pthread_join(readers[i], 0);
  fprintf(voice, "one\ntwo\n");
  for (int i = 0; i < 2; ++i) pthread_join(users[i], 0);
  pthread_create(&talkers[0], 0, chatter, "f");
  pthread_create(&talkers[1], 0, chatter, "g");
  for (int i = 0; i < 5; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      fprintf(stderr, "child %d\n", i);
      _exit(0);
    }
    CHECK(waitpid(child, 0, 0) == child);
  }
  for (int i = 0; i < 2; ++i) pthread_join(talkers[i], 0);
  return 0;
}
