// What the debugger is measured with.
//
//   debugger ring PROCESSES ROUNDS     a token goes round, some work at each stop
//   debugger changes COUNT             a child changes two variables, another ten, a third six, that often; then the parent one
//   debugger kinds COUNT               a child changes a floating-point number that often; others, less often, a string
//                                      and a number that a function is asked about; and that, as often
//   debugger received COUNT            a child receives that many messages, in one variable; of two threads, one does
//   debugger shared COUNT              a word of shared memory is written that often, by two processes in turn
//   debugger calls COUNT               a function is called that often, and writes to what a pointer leads to, and to a variable
//   debugger nodes COUNT               that often a list gets another first node, and after some computing a variable is changed
//   debugger turns COUNT               a child writes that often to an element, another one each time; then a function is called that
//                                      often, and functions of libc between; then one that calls itself
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 64, kWords = 10 };

int rounds;          // how often the token was here
volatile int value;   // changes all the time
volatile long sum;    // changes with it
volatile int words[kWords];  // one of them changes at a time
volatile double level;       // between two integers
volatile char name[16];      // digits
volatile int number;
struct { volatile long value, other; } apart[6];  // the same, and they are not side by side

struct place { volatile int other, kept; };
struct place* place;

struct message { int kind, number; char text[20]; } message;

struct node { struct node* next; int number; };
struct node* first;

struct room { sem_t turns[2]; volatile int word; };
struct room* room;

static void must(int holds) {
  if (!holds) exit(1);
}

static void pass_on(int from, int to) {
  int token;
  must(read(from, &token, sizeof token) == sizeof token);
  for (volatile int i = 0; i < 2000; i++) {
  }
  rounds++;
  token++;
  must(write(to, &token, sizeof token) == sizeof token);
}

static void ring(int processes, int count) {
  int pipes[kMost][2];
  must(processes > 1 && processes <= kMost);
  for (int i = 0; i < processes; i++) must(pipe(pipes[i]) == 0);
  for (int i = 1; i < processes; i++) {
    if (fork() != 0) continue;
    for (int round = 0; round < count; round++) pass_on(pipes[i][0], pipes[(i + 1) % processes][1]);
    _exit(0);
  }
  int token = 0;
  must(write(pipes[0][1], &token, sizeof token) == sizeof token);
  for (int round = 0; round < count; round++) pass_on(pipes[0][0], pipes[1][1]);
  while (wait(NULL) > 0) {
  }
}

static void changes(int count) {
  int ready[2];
  char byte = 0;
  must(pipe(ready) == 0);
  if (fork() == 0) {
    for (int i = 0; i < count; i++) {
      value = i;
      sum += i;
    }
    must(write(ready[1], &byte, 1) == 1);
    value = -7;
    _exit(0);
  }
  if (fork() == 0) {
    for (int i = 0; i < count; i++) words[i % kWords] = i;
    must(write(ready[1], &byte, 1) == 1);
    words[kWords - 1] = -7;
    _exit(0);
  }
  if (fork() == 0) {
    for (int i = 0; i < count; i++) apart[i % 6].value++;
    must(write(ready[1], &byte, 1) == 1);
    apart[5].value = -7;
    _exit(0);
  }
  for (int i = 0; i < 3; i++) must(read(ready[0], &byte, 1) == 1);
  while (wait(NULL) > 0) {
  }
  value = 5;
}

/// Of an integer, by what has been counted up to there.
int digits_in(int of) {
  int found = 1;
  while (of >= 10) {
    of /= 10;
    found++;
  }
  return found;
}

static void change_kind(int kind, int count) {
  int changes = kind == 1 ? count / 10 : count;
  for (int i = 0; i < changes; i++) {
    if (kind == 0) level = i + 0.5;
    if (kind == 1) name[2] = (char)('0' + i % 10);
    if (kind == 2) number = i;
  }
  if (kind == 0) level = -7.5;
  if (kind == 1) name[2] = 'x';
  if (kind == 2) number = count * 10;
}

static void kinds(int count) {
  must(digits_in(count) > 1);
  name[0] = name[1] = 'a';
  for (int kind = 0; kind < 3; kind++) {
    if (fork() != 0) continue;
    change_kind(kind, count);
    _exit(0);
  }
  while (wait(NULL) > 0) {
  }
}

__attribute__((noinline)) static void keep(int seen) {
  place->kept = seen;
  value = seen;
}

static void calls(int count) {
  must((place = malloc(sizeof *place)) != NULL);
  for (int i = 0; i < count; i++) keep(i);
}

static void nodes(int count) {
  for (int i = 0; i < count; i++) {
    struct node* node = malloc(sizeof *node);
    must(node != NULL);
    *node = (struct node){first, i};
    first = node;
    for (volatile int j = 0; j < 300; j++) {
    }
    value = i;
  }
}

static void* receive_from(void* end) {
  while (read(*(int*)end, &message, sizeof message) == sizeof message) rounds++;
  return NULL;
}

static void received(int count) {
  int pipes[2][2];
  for (int child = 0; child < 2; child++) {
    must(pipe(pipes[child]) == 0);
    if (fork() != 0) continue;
    for (int i = 0; i <= child; i++) close(pipes[i][1]);
    pthread_t thread;
    if (child == 0) receive_from(&pipes[0][0]);
    else must(pthread_create(&thread, NULL, receive_from, &pipes[1][0]) == 0 && pthread_join(thread, NULL) == 0);
    _exit(0);
  }
  for (int i = 0; i < 2 * count; i++) {
    struct message sent = {1, i / 2, "some text"};
    must(write(pipes[i % 2][1], &sent, sizeof sent) == sizeof sent);
  }
  for (int child = 0; child < 2; child++) close(pipes[child][1]);
  while (wait(NULL) > 0) {
  }
}

static void shared(int count) {
  room = mmap(NULL, sizeof *room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(room != MAP_FAILED && sem_init(&room->turns[0], 1, 1) == 0 && sem_init(&room->turns[1], 1, 0) == 0);
  pid_t child = fork();
  int own = child == 0;
  for (int i = own; i < count; i += 2) {
    must(sem_wait(&room->turns[own]) == 0);
    room->word = i;
    must(sem_post(&room->turns[!own]) == 0);
  }
  if (child == 0) _exit(0);
  must(wait(NULL) == child);
}

__attribute__((noinline)) static int remember(int seen) {
  volatile int local = seen;
  return local;
}

__attribute__((noinline)) static int fibonacci(int of) {
  volatile int rest = of;
  return rest < 2 ? rest : fibonacci(rest - 1) + fibonacci(rest - 2);
}

/// Some 1.6 to the power of which are as many calls.
static int depth_of(int calls) {
  int depth = 1, before = 1, last = 1;
  for (; 2 * last - 1 < calls; depth++) {
    int next = before + last;
    before = last;
    last = next;
  }
  return depth;
}

static void turns(int count) {
  char text[32] = "some text", other[32];
  if (fork() == 0) {
    for (int i = 0; i < count; i++) {
      value = i % kWords;
      words[value] = i;
    }
    for (int i = 0; i < count; i++) {
      memset(other, 0, sizeof other);
      strcpy(other, text);
      sum += remember(i) + memcmp(text, other, sizeof text);
    }
    number = fibonacci(depth_of(count));
    _exit(0);
  }
  while (wait(NULL) > 0) {
  }
}

int main(int count, char** arguments) {
  if (count == 4 && strcmp(arguments[1], "ring") == 0) ring(atoi(arguments[2]), atoi(arguments[3]));
  else if (count == 3 && strcmp(arguments[1], "changes") == 0) changes(atoi(arguments[2]));
  else if (count == 3 && strcmp(arguments[1], "kinds") == 0) kinds(atoi(arguments[2]));
  else if (count == 3 && strcmp(arguments[1], "calls") == 0) calls(atoi(arguments[2]));
  else if (count == 3 && strcmp(arguments[1], "received") == 0) received(atoi(arguments[2]));
  else if (count == 3 && strcmp(arguments[1], "shared") == 0) shared(atoi(arguments[2]));
  else if (count == 3 && strcmp(arguments[1], "nodes") == 0) nodes(atoi(arguments[2]));
  else if (count == 3 && strcmp(arguments[1], "turns") == 0) turns(atoi(arguments[2]));
  else return 2;
  return 0;
}
