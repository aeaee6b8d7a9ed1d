"""cone, cut, hb, path, races: what they say of real recordings, and that they agree with each other and with replay."""
import json
import os
import re

STANDING = re.compile(r"(p[0-9.]+)(?::(\d+))?(?: has not begun)?(, its end)?(, on its way into event \d+)?(?:  \(now thread \d+\))?$")


def ask(context, *arguments):
    """The answer, as JSON."""
    result = context.run([context.pastcone, *arguments, "--json"], label=" ".join(arguments[:3]))
    context.expect(result.status == 0 and not result.stderr, "a question", result)
    return json.loads(result.stdout)


def recorded(context, program):
    recording = context.path(program)
    result = context.record(recording, [context.program(program)])
    context.expect(result.status == 0, "record", result)
    return recording


def all_events(context, recording):
    listed = context.run([context.pastcone, "events", recording, "--json"], label="events")
    return [json.loads(line)["event"] for line in listed.stdout.decode().splitlines()]


def split(event):
    thread, number = event.split(":")
    return thread, int(number)


def places(cone):
    """thread → its last event and whether it is on its way into the next, of those that have begun."""
    return {each["thread"]: (split(each["event"] or ":0")[1], each["entering"]) for each in cone["threads"]
            if each["event"] or each["entering"]}


def standing(context, recording, event):
    """The same, from where replay --to came to stand."""
    result = context.run([context.pastcone, "replay", recording, "--verify", "--to", event], label=f"--to {event}")
    context.expect(result.status == 0, f"--to {event}", result)
    found = {}
    for line in result.stdout.decode().splitlines():
        match = STANDING.match(line)
        if match and (match[2] or match[4]):
            found[match[1]] = (int(match[2] or 0), bool(match[4]))
    return found


def test_graph_commands_cones(context):
    """The cone by turns is where replay --to stops, and a consistent cut; in its past and its future, what hb says."""
    recording = recorded(context, "counted_steps")
    events = all_events(context, recording)
    for event in context.random.sample(events, context.rounds(8, 100)):
        cone = ask(context, "cone", event, recording, "--turns")
        context.expect(places(cone) == standing(context, recording, event), f"{event}: replay stands elsewhere than {places(cone)}")
        frontier = [each["event"] for each in cone["threads"] if each["event"] and not each["entering"]]
        cut = ask(context, "cut", *frontier, recording, "--turns")
        context.expect(cut["consistent"] and not cut["orphans"] and places(cut) == places(cone), f"the cone of {event} is no cut: {cut}")
    for a, b in (context.random.sample(events, 2) for _ in range(context.rounds(15, 200))):
        check_pair(context, recording, a, b)


def check_pair(context, recording, a, b):
    answer = ask(context, "hb", a, b, recording)
    first, last = (b, a) if answer["relation"] == "after" else (a, b)
    thread, number = split(first)
    past = places(ask(context, "cone", last, recording)).get(thread, (0, False))[0]
    future = {each["thread"]: split(each["event"])[1] for each in ask(context, "cone", "--future", first, recording)["threads"]}
    path = ask(context, "path", first, last, recording)
    thread_of_last, number_of_last = split(last)
    ordered = answer["relation"] != "concurrent"
    context.expect(ordered == (past >= number), f"{first} is in the cone of {last} up to {past}, but {answer}")
    context.expect(ordered == (future.get(thread_of_last, 1 << 60) <= number_of_last), f"{last}, future of {first}: {future}, but {answer}")
    context.expect(ordered == (path["chain"] is not None), f"a longest chain from {first} to {last}: {path}, but {answer}")
    if not ordered:
        return
    context.expect(path["events"] > len(answer["chain"]), f"from {first} to {last} there are only {path['events']} events, but {answer}")
    for chain in (answer["chain"], path["chain"]):
        here, at = thread, number
        for arrow in chain:
            context.expect(split(arrow["from"])[0] == here and split(arrow["from"])[1] >= at, f"{chain} is no chain from {first}")
            here, at = split(arrow["to"])
        context.expect(here == thread_of_last and at <= number_of_last, f"{chain} does not end at {last}")


def test_graph_commands_inconsistent(context):
    """A receive without its send: not consistent, an orphan, and the witness is that message."""
    recording = recorded(context, "counted_steps")
    listed = [json.loads(line) for line in context.run([context.pastcone, "events", recording, "--json"]).stdout.splitlines()]
    receives = [event for event in listed if event.get("shape") == "receive" and event["result"] > 0]
    sends = [event for event in listed if event.get("shape") == "send"]
    receive = receives[-1]
    send = [event for event in sends if event["channel"] == receive["channel"]][len([event for event in receives if event["channel"] == receive["channel"]]) - 1]
    sender, number = split(send["event"])
    cut = ask(context, "cut", receive["event"], f"{sender}:{number - 1}", recording)
    context.expect(not cut["consistent"], f"{cut}")
    context.expect((cut["witness"]["from"], cut["witness"]["to"]) == (send["event"], receive["event"]), f"the witness is {cut['witness']}")
    context.expect({"send": send["event"], "receive": receive["event"]}.items() <= cut["orphans"][-1].items(), f"orphans: {cut['orphans']}")
    text = context.run([context.pastcone, "cut", receive["event"], f"{sender}:{number - 1}", recording]).stdout.decode()
    context.expect(text.startswith(f"not consistent: {send['event']} → {receive['event']} (message, channel"), text)


def test_graph_commands_arrows(context):
    """Each thing by which one process can wait for another is an arrow, with the right events at its ends."""
    recording = recorded(context, "graph_arrows")
    kinds = {}
    for line in context.run([context.pastcone, "events", recording, "--json"]).stdout.splitlines():
        event = json.loads(line)
        kinds[event["event"]] = event["kind"]
    query = "SELECT kind, from_event, to_event FROM edges WHERE causal AND from_process != to_process ORDER BY 1, to_event"
    found = [(row["kind"], kinds[row["from_event"]], row["from_event"][:2], kinds[row["to_event"]]) for row in
             map(json.loads, context.run([context.pastcone, "sql", recording, query, "--json"]).stdout.splitlines())]
    expected = [("accept", "connect", "p2", "accept"), ("connect", "listen", "p1", "connect"), ("end of file", "close", "p2", "read"),
                ("end of file", "shutdown", "p2", "read"), ("fork", "clone", "p1", "start"), ("readiness", "connect", "p2", "pselect6"),
                ("readiness", "write", "p2", "epoll_wait"), ("readiness", "write", "p2", "poll"), ("signal", "kill", "p1", "signal"),
                ("signal", "exit_group", "p2", "signal"), ("signal", "kill", "p2", "signal"), ("wait", "exit_group", "p2", "wait4")]
    messages = [each for each in found if each[0] == "message"]
    context.expect(len(messages) == 5, f"messages: {messages}")
    context.expect(sorted(set(found) - set(messages)) == sorted(expected), f"{sorted(set(found) - set(messages))}, not {sorted(expected)}")


def test_limit_graph_unsure(context):
    """Who of several was told that somebody connects cannot be sure by whom; who accepts can."""
    query = ("SELECT edges.kind AS kind, count(*) AS n FROM edges JOIN events ON event = from_event "
             "WHERE events.kind = 'connect' GROUP BY edges.kind")
    for number in range(10):  # now and then one of them gets all connections, and is sure
        recording = context.path(f"recording{number}")
        context.fresh_work()  # its socket has a name there
        result = context.record(recording, [context.program("accept_herd")])
        context.expect(result.status == 0, "record", result)
        rows = context.run([context.pastcone, "sql", recording, query, "--json"])
        counts = {row["kind"]: row["n"] for row in map(json.loads, rows.stdout.splitlines())}
        context.expect(counts.get("accept", 0) > 0, f"{counts}", rows)
        if "readiness" not in counts:
            return
    context.expect(False, f"{counts}", rows)


# Two descriptors are waited for one after the other, by the lines that follow.
ONE_AFTER_THE_OTHER = """
import os, select
ends = [os.pipe() for _ in range(2)]
for _, write in ends:
    if os.fork() == 0:
        os.write(write, b"x")
        os._exit(0)
"""
# By its end each is watched no more.
WATCHED = {"removed": """
epoll = select.epoll()
for read, _ in ends:
    epoll.register(read, select.EPOLLIN)
    epoll.poll()
    os.read(read, 1)
    epoll.unregister(read)
""", "closed": """
epoll = select.epoll()
for read, _ in ends:
    epoll.register(read, select.EPOLLIN)
    epoll.poll()
    os.read(read, 1)
    os.close(read)
""", "modified": """
epoll = select.epoll()
for read, _ in ends:
    epoll.register(read, 0)
for read, _ in ends:
    epoll.modify(read, select.EPOLLIN)
    epoll.poll()
    os.read(read, 1)
    epoll.modify(read, 0)
""", "together": """
epoll = select.epoll()
for read, _ in ends:
    epoll.register(read, select.EPOLLIN)
for _ in ends:
    os.read(epoll.poll(maxevents=1)[0][0], 1)
""", "by select": """
for read, _ in ends:
    select.select([read], [], [])
    os.read(read, 1)
"""}


def races_of(context, how):
    recording = context.path(how)
    result = context.record(recording, ["python3", "-c", ONE_AFTER_THE_OTHER + WATCHED[how]])
    context.expect(result.status == 0, "record", result)
    return ask(context, "races", recording)


def test_graph_commands_watched(context):
    """Two messages race for a receive if their descriptors were watched at once, and only then."""
    for how, expected in (("removed", 0), ("closed", 0), ("modified", 0), ("together", 1)):
        races = races_of(context, how)
        context.expect(races["receives"] == expected, f"{how}: {races}")


def test_limit_races_watched(context):
    """Of two descriptors that are selected one after the other, the second message is said to have raced for the first receive."""
    races = races_of(context, "by select")
    context.expect(races["receives"] == 1, f"{races}")


PACKETS = """
import os, sys
read, write = os.pipe2(os.O_DIRECT if sys.argv[1] == "packets" else 0)
for i in range(2):
    if os.fork() == 0:
        os.write(write, b"same")
        os._exit(0)
for i in range(2):
    if os.fork() == 0:
        os.read(read, 4)
        os._exit(0)
for i in range(4):
    os.wait()
"""


def test_graph_commands_packets(context):
    """Who of two readers of a pipe came first is known; of a pipe of packets it is not. Both have their messages."""
    for how in ("bytes", "packets"):
        recording = context.path(how)
        result = context.record(recording, ["python3", "-c", PACKETS, how])
        context.expect(result.status == 0, "record", result)
        rows = context.run([context.pastcone, "sql", recording, "SELECT kind, count(*) AS n FROM edges GROUP BY kind", "--json"])
        counts = {row["kind"]: row["n"] for row in map(json.loads, rows.stdout.splitlines())}
        context.expect(counts.get("message") == 2 and counts.get("shared end", 0) == (how == "bytes"), f"{how}: {counts}")


INHERITED = """
import os
if os.fork() == 0:
    os.write(os.open("fifo", os.O_WRONLY), b"x")
    os._exit(0)
os.read(0, 1)
"""


PIDFDS = """
import os, select
def polled(fd):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll()
def epolled(fd):
    epoll = select.epoll()
    epoll.register(fd, select.EPOLLIN)
    epoll.poll()
def selected(fd):
    select.select([fd], [], [])
for wait in (polled, epolled, selected):
    ready, begin = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ready, 1)
        os._exit(0)
    fd = os.pidfd_open(child)
    os.write(begin, b"x")
    wait(fd)
    os.close(fd)
"""


def test_graph_commands_pidfd(context):
    """The end of a process comes before what poll, epoll or select says of its pidfd."""
    recording = context.path("recording")
    context.write("pidfds.py", PIDFDS)
    result = context.record(recording, ["python3", "pidfds.py"])
    context.expect(result.status == 0, "record", result)
    asked = ("SELECT edges.from_process AS p, events.kind AS told FROM edges JOIN events ON event = to_event "
             "JOIN processes ON processes.process = from_process AND from_number = processes.events WHERE edges.kind = 'readiness' ORDER BY p")
    rows = context.run([context.pastcone, "sql", recording, asked, "--json"])
    told = {row["p"]: row["told"] for row in map(json.loads, rows.stdout.splitlines())}
    context.expect(list(told) == ["p2", "p3", "p4"] and "epoll" in told["p3"] and "select" in told["p4"], f"{told}", rows)


ROUNDS = """
import os
os.mkfifo("fifo")
for i in range(100):
    if os.fork() == 0:
        end = os.open("fifo", os.O_WRONLY)
        os.write(end, b"round %d" % i)
        os.close(end)
        os._exit(0)
    end = os.open("fifo", os.O_RDONLY)
    assert os.read(end, 20) == b"round %d" % i
    os.close(end)
    os.wait()
"""


def test_graph_commands_fifo_opened_together(context):
    """Who opens a FIFO together with one that writes, and closes it at once, receives from that one every time."""
    recording = context.path("recording")
    context.write("rounds.py", ROUNDS)
    result = context.record(recording, ["python3", "rounds.py"])
    context.expect(result.status == 0, "record", result)
    asked = "SELECT count(*) AS n FROM messages WHERE send IS NOT NULL AND receive IS NOT NULL"
    rows = context.run([context.pastcone, "sql", recording, asked, "--json"])
    context.expect(json.loads(rows.stdout)["n"] == 100, "messages that were received", rows)
    context.expect(context.replay(recording).status == 0, "replay")


def test_limit_inherited_fifo(context):
    """What comes by a FIFO that was there before is from outside."""
    context.write("inherited.py", INHERITED)
    os.mkfifo(context.path("fifo"))
    recording = context.path("recording")
    result = context.run(["sh", "-c", f"exec {context.pastcone} record -o {recording} -- python3 inherited.py <>fifo"], label="record")
    context.expect(result.status == 0, "record", result)
    rows = context.run([context.pastcone, "sql", recording, "SELECT count(*) AS n FROM messages WHERE receive IS NOT NULL", "--json"])
    context.expect(json.loads(rows.stdout)["n"] == 0, "an arrow", rows)
    context.expect(context.replay(recording).status == 0, "replay")


def test_graph_commands_races(context):
    """Four writers into one pipe race for its reader's receives; a pipe with one writer has none."""
    recording = recorded(context, "pipe_shared_writers")
    races = ask(context, "races", recording)
    context.expect(races["receives"] > 0 and [group["call"] for group in races["groups"]] == ["read"], f"{races}")
    for receive in races["groups"][0]["receives"]:
        context.expect(split(receive["receive"])[0] == "p1" and receive["took"] not in receive["raced"] and receive["raced"], f"{receive}")
    text = context.run([context.pastcone, "races", recording]).stdout.decode()
    context.expect(re.search(r" receives at \S+\.[ch]:\d+ in \w+ by read of ", text) and "could have had that of" in text, text)
    alone = recorded(context, "pipe_large")
    context.expect(ask(context, "races", alone)["receives"] == 0, "a pipe with one writer")
    context.expect(context.run([context.pastcone, "races", alone]).stdout.startswith(b"no receive"), "the text")


def test_graph_commands_kept(context):
    """The graph is kept in the recording, and made again where it is damaged or gone."""
    recording = recorded(context, "counted_steps")
    kept = os.path.join(recording, "graph.idx")
    first = ask(context, "cone", "p2:9", recording)
    before = os.stat(kept)
    context.expect(ask(context, "cone", "p2:9", recording) == first, "the kept graph says something else")
    context.expect(os.stat(kept).st_ino == before.st_ino, "the graph was made again")
    with open(kept, "r+b") as file:
        file.seek(before.st_size // 2)
        file.write(b"damaged")
    context.expect(ask(context, "cone", "p2:9", recording) == first, "a damaged graph was used")
    with open(kept, "rb") as file:
        context.expect(b"damaged" not in file.read(), "a damaged graph was not made again")
    os.remove(kept)
    replayed = context.run([context.pastcone, "replay", recording, "--verify", "--to", "p2:9"], label="--to")
    context.expect(replayed.status == 0 and os.path.exists(kept), "replay --to keeps the graph too", replayed)


def test_graph_commands_mistakes(context):
    """One line that says what and what to try."""
    recording = recorded(context, "pipe_shared_writers")
    for says, *arguments in (("the last of p2 is", "cone", "p2:999999", recording),
                             ("pastcone ps", "cone", "p99:1", recording),
                             ("write it like", "hb", "p1:1", "p1", recording),
                             ("write it like", "cut", "p1:1", "p2:one", recording),
                             ("leave one out", "cut", "p1:1", "p1:2", recording),
                             ("--help", "path", "p1:1"),
                             ("no-such-recording", "races", "no-such-recording")):
        result = context.run([context.pastcone, *arguments], label=" ".join(arguments[:3]))
        context.expect_one_line(" ".join(arguments), result)
        context.expect(says in result.stderr.decode(), f"does not say {says!r}", result)
    for command in ("cone", "cut", "hb", "path", "races"):
        text = context.run([context.pastcone, command, "--help"], label=f"{command} --help")
        context.expect(text.status == 0 and b"REC" in text.stdout and b"--json" in text.stdout, "the help", text)
