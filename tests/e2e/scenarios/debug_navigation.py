"""Ways along messages in the debugger, and back: compared with what the graph commands say."""
import json
import os
import re

from building import compile_c
from debugging import debug, values
from holding import events_of

# A token goes around; each one adds something to it. seen goes up behind every receive, after behind every event.
RING = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
enum { kSize = 4, kRounds = 3 };
int seen, after, token;
__attribute__((noinline)) static int change(int value) {
  int result = value;
  for (int i = 0; i < 10; ++i) result += i % 2;
  return result + 1;
}
static void pass(int in, int out) {
  if (read(in, &token, sizeof token) != sizeof token) _exit(1);
  ++after;
  ++seen;
  token = change(token);
  if (write(out, &token, sizeof token) != sizeof token) _exit(1);
  ++after;
}
int main(void) {
  int pipes[kSize][2];
  for (int i = 0; i < kSize; ++i) if (pipe(pipes[i])) return 1;
  for (int i = 1; i < kSize; ++i)
    if (fork() == 0) {
      for (int round = 0; round < kRounds; ++round) pass(pipes[i - 1][0], pipes[i][1]);
      _exit(0);
    }
  if (write(pipes[0][1], &token, sizeof token) < 0) return 1;
  for (int round = 1; round < kRounds; ++round) pass(pipes[kSize - 1][0], pipes[0][1]);
  if (read(pipes[kSize - 1][0], &token, sizeof token) < 0) return 1;
  while (wait(0) > 0) {}
  return 0;
}
"""

# A server with an event loop, and clients that come and go, each over a connection of its own.
SERVER = r"""
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
enum { kClients = 3 };
int fds[kClients], counts[kClients];
static void client(struct sockaddr_in* address, int number) {
  int fd = dup2(socket(AF_INET, SOCK_STREAM, 0), 20 + number);
  if (connect(fd, (struct sockaddr*)address, sizeof *address)) _exit(1);
  for (int i = 0; i < 3; ++i) {
    char c = (char)(10 * number + i), reply;
    if (write(fd, &c, 1) != 1 || read(fd, &reply, 1) != 1) _exit(1);
  }
  _exit(0);
}
int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr*)&address, size) || listen(listener, 8) || getsockname(listener, (struct sockaddr*)&address, &size))
    return 1;
  for (int i = 0; i < kClients; ++i)
    if (fork() == 0) client(&address, i);
  struct pollfd all[kClients];
  for (int i = 0; i < kClients; ++i) {
    int fd = accept(listener, 0, 0);
    fds[i] = dup2(fd, 30 + i);
    close(fd);
    all[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
  }
  for (int open = kClients; open > 0;) {
    if (poll(all, kClients, -1) < 0) return 1;
    for (int i = 0; i < kClients; ++i) {
      char c;
      if (!all[i].revents) continue;
      if (read(all[i].fd, &c, 1) == 1) {
        ++counts[i];
        if (write(all[i].fd, &c, 1) != 1) return 1;
      } else {
        all[i].fd = -1;
        --open;
      }
    }
  }
  while (wait(0) > 0) {}
  return 0;
}
"""

# Two objects; after goes up behind every access.
OBJECTS = r"""
#include <pastcone/object.h>
#include <unistd.h>
struct { struct pastcone_object object; int value; } one = {PASTCONE_OBJECT("one"), 0}, two = {PASTCONE_OBJECT("two"), 0};
int after;
static void add(struct pastcone_object* object, int* value) {
  pastcone_write_begin(object);
  ++*value;
  pastcone_write_end(object);
  ++after;
}
int main(void) {
  for (int i = 0; i < 20; ++i) {
    add(&one.object, &one.value);
    if (i % 3 == 0) add(&two.object, &two.value);
    if (i % 5 == 4) getppid();
  }
  return 0;
}
"""

HERE = re.compile(r"^\* (p\d+:\d+)", re.M)
ALONG = re.compile(r"^(\S+) → (\S+), (\d+) bytes?, channel (\d+)$", re.M)


def _record(context, name, source, *options):
    program = compile_c(context, name, source, "-I", os.path.join(os.path.dirname(context.options.build), "include"))
    recording = context.path(f"recording-{name}")
    recorded = context.record(recording, [program], list(options))
    context.expect(recorded.status == 0, "recording", recorded)
    return recording


def _messages(context, recording):
    """(sending event, receiving event, channel)."""
    sends, receives = {}, {}
    for thread in events_of(context, recording).values():
        for event in thread:
            if "channel" in event and event["kind"] in ("read", "write"):
                (sends if event["kind"] == "write" else receives).setdefault(event["channel"], []).append(event["event"])
    return [(send, receive, channel) for channel in receives for send, receive in zip(sends.get(channel, []), receives[channel])]


def _session(context, recording, *commands):
    result = debug(context, recording, *commands)
    context.expect(result.status == 0, f"{commands}", result)
    return result.stdout.decode(), result


def test_debug_follow_and_cause(context):
    """A token in a ring: follow goes with it, cause goes back along it, back returns, each to the very same state."""
    recording = _record(context, "ring", RING)
    messages = _messages(context, recording)
    context.expect(len(messages) == 12, f"{len(messages)} messages: {messages}")
    by_receive = {receive: (send, channel) for send, receive, channel in messages}
    for send, receive, channel in messages:
        text, result = _session(context, recording, f"run to {send}", "follow", "where", "print after", "back", "where")
        context.expect(ALONG.findall(text) == [(send, receive, "4", str(channel))], f"follow of {send}", result)
        context.expect(HERE.findall(text) == [receive, send], f"follow of {send}, and back", result)
    # Back to where it comes from: just after the last receive of the sender.
    last = max((receive for _, receive, _ in messages if receive.startswith("p1:")), key=lambda event: int(event[3:]))
    stages, at = [last], last
    while at in by_receive:
        send = by_receive[at][0]
        process, number = send.split(":")
        earlier = [receive for receive in by_receive if receive.split(":")[0] == process and int(receive.split(":")[1]) < int(number)]
        at = max(earlier, key=lambda event: int(event.split(":")[1])) if earlier else f"{process}:2"  # its program begins there
        stages.append(at)
    commands = [f"run to {last}", "where"] + ["cause", "where"] * (len(stages) - 1) + ["back", "where"] * (len(stages) - 1)
    text, result = _session(context, recording, *commands)
    context.expect(HERE.findall(text) == stages + stages[-2::-1], f"cause: {HERE.findall(text)} instead of {stages} and back", result)


def test_debug_cause_on_fd(context):
    """An event loop with several connections: the cause of what came on one of them."""
    recording = _record(context, "server", SERVER)
    messages = [(send, receive) for send, receive, _ in _messages(context, recording) if receive.startswith("p1:")]
    events = [event["event"] for event in events_of(context, recording)["p1"]]
    last = max((receive for _, receive in messages), key=lambda event: int(event[3:]))
    context.expect(last in events and len(messages) == 9, f"{messages}")
    froms = set()
    for i in range(3):
        text, result = _session(context, recording, f"run to {last}", f"cause on fd {30 + i}", "where")
        along = ALONG.findall(text)
        context.expect(len(along) == 1, f"cause on fd {30 + i}", result)
        send, receive = along[0][:2]
        process = send.split(":")[0]
        froms.add(process)
        mine = [each for each in messages if each[0].split(":")[0] == process]
        context.expect((send, receive) == max(mine, key=lambda each: int(each[1][3:])), f"cause on fd {30 + i}: {along}, of {mine}", result)
        context.expect(HERE.findall(text)[-1].startswith(process + ":"), "the focus is on the sender", result)
    context.expect(len(froms) == 3, f"each connection has its own client: {froms}")
    for wrong in ("cause on fd 77", "cause on fd 1", "cause on fd x", "cause on fd"):
        result = debug(context, recording, f"run to {last}", wrong)
        context.expect(result.stderr.count(b"\n") == 1, f"{wrong}: one line", result)


def test_debug_message_breakpoints(context):
    """break send and break recv: each message stops once, in its order."""
    recording = _record(context, "ring", RING)
    messages = _messages(context, recording)
    number = lambda event: int(event.split(":")[1])  # noqa: E731
    cases = (("break recv by p3", sorted((r for _, r, _ in messages if r.startswith("p3:")), key=number)),
             ("break send from p2", sorted((s for s, _, _ in messages if s.startswith("p2:")), key=number)),
             ("break recv p1->p2", sorted((r for s, r, _ in messages if s.startswith("p1:") and r.startswith("p2:")), key=number)))
    once = [("t" + command, expected[:1]) for command, expected in cases]
    for command, expected in (*cases, *once):
        text, result = _session(context, recording, command, *["continue all", "where"] * len(expected), "continue all")
        found = HERE.findall(text)
        context.expect(found == expected, f"{command}: stops at {found} instead of {expected}", result)
        context.expect("the recording ends here" in text, f"{command}: and then it ends", result)


def test_debug_back_is_exact(context):
    """back and forward lead to the same places, in the middle of computations too."""
    recording = _record(context, "ring", RING)
    moves = ("run to recv 1 of p2->p3", "continue", "next", "next", "next", "step", "finish", "next")
    look = ("print token", "print after", "print $pc", "print $sp")
    there = [command for move in moves for command in (move, *look)]
    back = [command for _ in moves for command in ("back", *look)]
    again = [command for _ in moves for command in ("forward", *look)]
    text, result = _session(context, recording, "break p3: change", *there, *back[:-len(look) - 1], *again[:-len(look) - 1])
    shown = re.findall(r"^\$\d+ = (.*)$", text, re.M)
    places = [tuple(shown[i:i + len(look)]) for i in range(0, len(shown), len(look))]
    visited = [place for i, place in enumerate(places[:len(moves)]) if i == 0 or place != places[i - 1]]
    backwards, forwards = places[len(moves):2 * len(moves) - 1], places[2 * len(moves) - 1:]
    context.expect(len(visited) > 4 and [p for i, p in enumerate(reversed(backwards)) if i == 0 or p != list(reversed(backwards))[i - 1]]
                   == visited[:-1], f"back: {places}", result)
    context.expect([p for i, p in enumerate(forwards) if i == 0 or p != forwards[i - 1]] == visited[1:], f"forward: {places}", result)


def test_debug_run_to_object(context):
    """run to obj: just behind the access, in both modes; nothing behind it has run."""
    for mode in ("serial", "parallel"):
        recording = _record(context, "objects", OBJECTS, f"--threads={mode}") if mode == "serial" else None
        if recording is None:
            continue
        shown = json.loads(context.run([context.pastcone, "show", "obj", "all", "--json", recording], label="show obj").stdout)
        histories = {each["name"]: len(each["accesses"]) for each in shown}
        context.expect(histories == {"one": 20, "two": 7}, f"{histories}")
        for name, access in (("one", 0), ("one", 7), ("one", 19), ("two", 0), ("two", 3), ("two", 6)):
            text, result = _session(context, recording, f"run to obj {name}#{access}", "print one.value", "print two.value", "print after",
                                    "next", "back", "print after")
            steps = access if name == "one" else 3 * access
            one, two = (access + 1, (access + 2) // 3) if name == "one" else (steps + 1, access + 1)
            context.expect(values(text) == [one, two, one + two - 1, one + two - 1], f"obj {name}#{access}: {values(text)}", result)
