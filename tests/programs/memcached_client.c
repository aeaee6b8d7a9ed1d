// A client for memcached: threads that set, get, increment and count; arguments: port, threads, rounds.
// e2e: helper
#include <pthread.h>

#include "net.h"

static int port, rounds;
static long hits, misses;

static void ask(FILE* in, int fd, const char* request, char* line, size_t size) {
  write_all(fd, request, strlen(request));
  CHECK(fgets(line, (int)size, in) != NULL);
}
static void* work(void* arg) {
  int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
  FILE* in = fdopen(dup(fd), "r");
  char request[200], line[300];
  for (int i = 0; i < rounds; i++) {
    snprintf(request, sizeof request, "set key%d 0 0 8\r\n%08d\r\n", i % 37, i);
    ask(in, fd, request, line, sizeof line);
    CHECK(strcmp(line, "STORED\r\n") == 0);
    snprintf(request, sizeof request, "get key%d\r\n", (i * 7 + (int)(long)arg) % 50);
    ask(in, fd, request, line, sizeof line);
    int hit = strncmp(line, "VALUE", 5) == 0;
    __atomic_add_fetch(hit ? &hits : &misses, 1, __ATOMIC_SEQ_CST);
    if (hit) CHECK(fgets(line, sizeof line, in) != NULL && fgets(line, sizeof line, in) != NULL);
    ask(in, fd, "incr counter 1\r\n", line, sizeof line);
  }
  fclose(in);
  close(fd);
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  port = atoi(argv[1]);
  rounds = atoi(argv[3]);
  int count = atoi(argv[2]), fd = connected(SOCK_STREAM, loopback(AF_INET, port));
  FILE* in = fdopen(dup(fd), "r");
  char line[300];
  ask(in, fd, "set counter 0 0 1\r\n0\r\n", line, sizeof line);
  pthread_t threads[64];
  for (long i = 0; i < count; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < count; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  ask(in, fd, "incr counter 0\r\n", line, sizeof line);
  say("hits %ld, misses %ld, counter %s", hits, misses, line);
  CHECK(atoi(line) == count * rounds);
  return 0;
}
