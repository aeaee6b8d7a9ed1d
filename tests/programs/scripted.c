// Processes that do what a script says, and log every state of theirs.
// e2e: helper
//
//   scripted SCRIPT FOLDER
//
// A script has lines `link KIND` (pipe, polled, pair, tcp; numbered from 0) and `do PROCESS ACTION ARGUMENT`,
// the actions of a process in its order; process 0 is the first. Link L carries messages on channel 2L from
// its first end to its second, and back on 2L+1 (pipes: not back; of a polled pipe one only tries to
// receive). What an action does to x, y and other processes is all that happens here, and each process has a
// number for each of its states: state_number goes up just *before* an action, so a process that stands
// directly behind it shows the action's number. A child goes on with the numbers and values it was forked
// with. after_event goes up *after* every action that is an event.
//
// Each process writes FOLDER/PROCESS at its end: a line per action with its number, the action, its argument,
// which message of the channel it was (fork: the pid; try: -1 if there was none), x, y and after_event. The
// log is in memory until then: no events in between.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLinks = 64, kActions = 4000, kProcesses = 64 };

struct Action {
  int process, argument;
  char what[12];
};

struct Line {
  const struct Action* action;
  int state, number, x, y, after;
};

struct Link {
  char kind[8];
  int ends[2], listener;
  struct sockaddr_in address;
};

volatile int x, y, state_number, after_event;
__thread volatile int own = 7;

// For predicates that call.
int total(void) { return x + y; }
int value_at(const volatile int* where) { return *where; }

static struct Action actions[kActions];
static struct Link links[kLinks];
static int action_count, link_count, self;
static const char* folder;

static struct Line lines[kActions];
static int line_count, sent[2 * kLinks], received[2 * kLinks];
static pid_t children[kProcesses];

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void make_link(struct Link* link) {
  socklen_t size = sizeof link->address;
  if (link->kind[0] == 'p' && link->kind[1] != 'a') {
    int ends[2];
    if (pipe2(ends, strcmp(link->kind, "polled") == 0 ? O_NONBLOCK : 0) != 0) fail("pipe");
    link->ends[0] = ends[1], link->ends[1] = ends[0];
  } else if (strcmp(link->kind, "pair") == 0) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, link->ends) != 0) fail("socketpair");
  } else {
    link->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    link->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(link->listener, (struct sockaddr*)&link->address, size) != 0 || listen(link->listener, 1) != 0 ||
        getsockname(link->listener, (struct sockaddr*)&link->address, &size) != 0)
      fail("listen");
  }
}

static void read_script(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) fail(path);
  for (char word[12]; fscanf(file, "%11s", word) == 1;) {
    struct Action* action = &actions[action_count];
    int ok = strcmp(word, "link") == 0
                 ? link_count < kLinks && fscanf(file, "%7s", links[link_count++].kind) == 1
                 : action_count++ < kActions - 1 &&
                       fscanf(file, "%d %11s %d", &action->process, action->what, &action->argument) == 3;
    if (!ok) fail("script");
  }
  fclose(file);
}

// Channel 2L goes from end 0 to end 1.
static int sending_end(int channel) { return links[channel / 2].ends[channel % 2]; }
static int receiving_end(int channel) { return links[channel / 2].ends[1 - channel % 2]; }

static int send_message(int channel) {
  long message = sent[channel];
  if (write(sending_end(channel), &message, sizeof message) < 0) return -1;
  return sent[channel]++;
}

static int receive_message(int channel) {
  long message;
  if (read(receiving_end(channel), &message, sizeof message) != sizeof message) fail("read");
  if (message != received[channel]) fail("another message");
  return received[channel]++;
}

static int try_to_receive(int channel) {
  long message;
  return read(receiving_end(channel), &message, sizeof message) == sizeof message ? received[channel]++ : -1;
}

static int start(int child) {
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) self = child, line_count = 0;
  return children[child] = pid;
}

static int connect_link(struct Link* link) {
  link->ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(link->ends[0], (struct sockaddr*)&link->address, sizeof link->address) != 0) fail("connect");
  return 0;
}

static int accept_link(struct Link* link) {
  link->ends[1] = accept(link->listener, NULL, NULL);
  if (link->ends[1] < 0) fail("accept");
  return 0;
}

static void work(int rounds) {
  for (volatile int i = 0; i < rounds * 1000; i++) {
  }
}

// Directly behind every action but the end: a place for breakpoints.
__attribute__((noinline)) static void note(const struct Action* action, int number) {
  lines[line_count++] = (struct Line){action, state_number, number, x, y, after_event};
}

static void end(const struct Action* action) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, self);
  FILE* file = fopen(path, "w");
  if (!file) fail(path);
  state_number++;
  note(action, 0);
  for (const struct Line* line = lines; line < lines + line_count; line++)
    fprintf(file, "%d %s %d %d %d %d %d\n", line->state, line->action->what, line->action->argument,
            line->number, line->x, line->y, line->after);
  fclose(file);
  _exit(0);
}

static int is(const struct Action* action, const char* what) { return strcmp(action->what, what) == 0; }

static int do_event(const struct Action* action) {
  int argument = action->argument;
  if (is(action, "fork")) return start(argument);
  if (is(action, "send")) return send_message(argument);
  if (is(action, "recv")) return receive_message(argument);
  if (is(action, "try")) return try_to_receive(argument);
  if (is(action, "connect")) return connect_link(&links[argument]);
  if (is(action, "accept")) return accept_link(&links[argument]);
  if (is(action, "wait")) return waitpid(children[argument], NULL, 0);
  fail("action");
  return 0;
}

static void act(const struct Action* action) {
  if (is(action, "work")) {
    work(action->argument);
    return;
  }
  if (is(action, "end")) end(action);
  int number = 0, me = self;
  state_number++;
  if (is(action, "x")) {
    x = action->argument;
  } else if (is(action, "y")) {
    y = action->argument;
  } else {
    number = do_event(action);
    after_event++;
  }
  if (me == self) note(action, number);  // a child was born after it
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  folder = argv[2];
  signal(SIGPIPE, SIG_IGN);
  read_script(argv[1]);
  for (int i = 0; i < link_count; i++) make_link(&links[i]);
  // A child's actions come after the one that forks it: who acts next is looked up each time.
  for (int i = 0; i < action_count; i++)
    if (actions[i].process == self) act(&actions[i]);
  return 1;
}
