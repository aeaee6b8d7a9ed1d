// Processes that share memory, and one beside them that answers their messages. Each change has a number, which is in the shared
// memory itself, and is in the log by it: as one of them runs at a time that is the order in which they happened.
//
// shared_words SEED MEMBERS HOW LOG: HOW is "inherited" (one mapping, from before the forks) or a file that each maps by itself, at
// an address of its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 4000, kCells = 6, kMembers = 6, kActions = 24 };
struct Answer {
  int x, steps;  // the number of the one beside
};
struct Entry {
  int member, what, value, place, ended;  // the number when it was done: another one if the turn was lost meanwhile
  struct Answer x, answers[kMembers];  // as they were just before: what was read since has no number of its own
};
struct Shared {
  int order, y, cell[kCells];
  int x, steps;  // an Answer, too
  struct Answer answers[kMembers];
  struct Entry log[kMost];
};
struct Message {
  int member, order, into_x;
};
struct Shared* s;                        // what is shared, once it is there
int self, mine, last;                    // of each process
int got, answered, steps;                // of the one beside
static struct { int steps, what, value, needs; } beside_log[kMost];
static int requests[2], replies[kMembers][2];
static unsigned state;
static const char* how;

static int below(int limit) {
  state = state * 1103515245 + 12345;
  return (int)(state >> 16) % limit;
}

static void enter(struct Shared* into, int what, int value, int place) {
  last = ++into->order;
  struct Entry entry = {self, what, value, place, 0, {into->x, into->steps}, {{0, 0}}};
  memcpy(entry.answers, into->answers, sizeof entry.answers);
  into->log[last] = entry;
}

static void begin(int what, int value, int place) { enter(s, what, value, place); }
static void end(void) { s->log[last].ended = s->order; }

static struct Shared* map_file(void) {
  int fd = open(how, O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, sizeof(struct Shared)) != 0) _exit(9);
  void* where = (void*)(0x10000000L + 0x1000000L * self);
  struct Shared* mapped = mmap(where, sizeof(struct Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) _exit(8);
  return mapped;
}

// The number is there before who looks for `s` finds it.
static void join(void) {
  struct Shared* mapped = map_file();
  enter(mapped, 'm', 0, 0);
  s = mapped;
  end();
}

static void act(void) {
  int value = below(5), cell = below(kCells);
  switch (below(10)) {
    case 0: case 1:
      begin('x', value, 0);
      s->x = value;
      end();
      break;
    case 2: case 3:
      begin('y', value, 0);
      s->y = value;
      end();
      break;
    case 4:
      begin('c', value, cell);
      s->cell[cell] = value;
      end();
      break;
    case 5: case 6:
      begin('v', value, 0);
      mine = value;
      end();
      break;
    case 7: case 8: {  // asks the one beside; the answer goes into the shared memory
      int into_x = below(2);
      begin('s', 0, 0);
      end();
      struct Message message = {self, last, into_x};
      if (write(requests[1], &message, sizeof message) != sizeof message) _exit(7);
      struct Answer* to = into_x ? (struct Answer*)&s->x : &s->answers[self];
      if (read(replies[self][0], to, sizeof *to) != sizeof *to) _exit(6);
      begin('r', 0, 0);
      end();
      break;
    }
    default:
      for (volatile int i = below(2000); i > 0; i--) {}
      sched_yield();
  }
}

static void note(int what, int value, int needs) {
  beside_log[++steps].what = what, beside_log[steps].value = value, beside_log[steps].needs = needs;
}

static void beside(const char* path) {
  struct Message message;
  close(requests[1]);
  while (read(requests[0], &message, sizeof message) == sizeof message) {
    note('g', message.order % 7, message.order);
    got = message.order % 7;
    note('a', below(4), 0);
    answered = beside_log[steps].value;
    struct Answer answer = {below(5), steps};
    if (write(replies[message.member][1], &answer, sizeof answer) != sizeof answer) _exit(5);
  }
  char name[300];
  snprintf(name, sizeof name, "%s.beside", path);
  FILE* file = fopen(name, "w");
  for (int i = 1; i <= steps; i++) fprintf(file, "%d %c %d %d\n", i, beside_log[i].what, beside_log[i].value, beside_log[i].needs);
  fclose(file);
  _exit(0);
}

static void be_member(int actions) {
  state += (unsigned)self * 7919;
  if (!s) join();
  for (int i = 0; i < actions; i++) act();
  begin('e', 0, 0);
  end();
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  state = (unsigned)atoi(argv[1]) * 2654435761u;
  int members = atoi(argv[2]);
  how = argv[3];
  int inherited = strcmp(how, "inherited") == 0;
  if (pipe(requests) != 0) return 3;
  for (int i = 0; i < members; i++)
    if (pipe(replies[i]) != 0) return 3;
  pid_t pids[kMembers + 1];
  if ((pids[0] = fork()) == 0) beside(argv[4]);
  if (inherited) {
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    begin('m', 0, 0);
    end();
  }
  for (int i = 1; i < members; i++) {
    if (inherited) {
      for (int k = below(4); k > 0; k--) act();
      begin('f', 0, i);
      end();
    }
    if ((pids[i] = fork()) == 0) {
      self = i;
      be_member(4 + below(kActions));
    }
  }
  if (!s) join();
  for (int i = 0; i < kActions; i++) act();
  begin('E', 0, 0);
  end();
  close(requests[1]);
  for (int i = 0; i < members; i++) waitpid(pids[i], NULL, 0);
  FILE* log = fopen(argv[4], "w");
  fprintf(log, "%d", getpid());
  for (int i = 0; i < members; i++) fprintf(log, " %d", pids[i]);
  fprintf(log, "\n");
  for (int i = 1; i <= s->order; i++) {
    const struct Entry* entry = &s->log[i];
    fprintf(log, "%d %d %c %d %d %d %d", i, entry->member, entry->what, entry->value, entry->place, entry->x.x, entry->x.steps);
    int most = 0;
    for (int k = 0; k < members; k++)
      if (entry->answers[k].steps > most) most = entry->answers[k].steps;
    fprintf(log, " %d %d\n", most, entry->ended);
  }
  fclose(log);
  return 0;
}
