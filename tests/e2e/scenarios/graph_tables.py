"""sql and export: a recording as tables, and for other tools."""
import collections
import json
import os
import re
import shutil
import xml.dom.minidom

EXPORT_LIMIT = 4000  # events that dot takes


def sql(context, recording, query, stdin=None):
    """The rows, as lists of texts, without the names of the columns."""
    argv = [context.pastcone, "sql", recording] + ([query] if stdin is None else [])
    result = context.run(argv, label=query, stdin=stdin)
    context.expect(result.status == 0, f"sql: {query}", result)
    return [line.split("\t") for line in result.stdout.decode().splitlines()[1:]]


def value(context, recording, query):
    (row,) = sql(context, recording, query)
    return int(row[0])


def listed(context, recording, *what):
    """What `events --json` or `ps --json` says."""
    result = context.run([context.pastcone, what[0], recording, *what[1:], "--json"], label=what[0])
    context.expect(result.status == 0, f"{what}", result)
    text = result.stdout.decode()
    return [json.loads(line) for line in text.splitlines()] if what[0] == "events" else json.loads(text)


def recorded(context, program):
    recording = context.path(program)
    result = context.record(recording, [context.program(program)])
    context.expect(result.status == 0, "record", result)
    return recording


def by_turns(events):
    """channel → its sends and receives that agree one to one: whole messages of one length, by one thread each."""
    ends = collections.defaultdict(lambda: ([], []))
    for event in events:
        if event.get("shape") in ("send", "receive") and event["result"] > 0:
            ends[event["channel"]][event["shape"] == "receive"].append(event)
    return {channel: (sends, receives) for channel, (sends, receives) in ends.items()
            if len({event["result"] for event in sends + receives}) == 1
            and all(len({event["event"].split(":")[0] for event in end}) == 1 for end in (sends, receives))}


def test_graph_tables_count(context):
    """Tables have as many rows as there are events and processes, with and without conditions."""
    recording = recorded(context, "counted_steps")
    events, processes = listed(context, recording, "events"), listed(context, recording, "ps")
    kinds = collections.Counter(event["kind"] for event in events)
    found = {kind: int(count) for kind, count in sql(context, recording, "SELECT kind, count(*) FROM events GROUP BY kind")}
    context.expect(found == kinds, f"kinds: {found}, not {kinds}")
    context.expect(value(context, recording, "SELECT count(*) FROM processes") == len(processes), "processes")
    for process in processes:
        for thread in process["threads"]:
            name = thread["thread"]
            count = value(context, recording, f"SELECT count(*) FROM events WHERE thread = '{name}'")
            context.expect(count == thread["events"], f"{name}: {count} events, not {thread['events']}")
            count = value(context, recording, f"SELECT count(*) FROM events WHERE thread = '{name}' AND number BETWEEN 3 AND 5")
            context.expect(count == max(0, min(3, thread["events"] - 2)), f"{name}: {count} events from 3 to 5")
    names = [row[0] for row in sql(context, recording, None, stdin=b"SELECT event FROM events")]
    context.expect(names == [event["event"] for event in events], "not the same events in the same order")
    rows = context.run([context.pastcone, "sql", recording, "SELECT * FROM threads", "--json"], label="--json")
    threads = [json.loads(line)["thread"] for line in rows.stdout.decode().splitlines()]
    context.expect(threads == [thread["thread"] for process in processes for thread in process["threads"]], "threads", rows)


def test_graph_tables_order(context):
    """A ring of processes: the n-th send is the n-th receive's, and what is before it is before all of the rest."""
    recording = recorded(context, "counted_steps")
    events = listed(context, recording, "events")
    channels = by_turns(events)
    context.expect(len(channels) == 3, f"found {len(channels)} pipes of the ring")
    for channel, (sends, receives) in channels.items():
        pairs = [[send["event"], receive["event"]] for send, receive in zip(sends, receives)]
        rows = sql(context, recording, f"SELECT send, receive FROM messages WHERE channel = {channel} ORDER BY begin")
        context.expect(rows == pairs, f"channel {channel}: {rows}, not {pairs}")
        for send, receive in pairs[:3]:
            answer = sql(context, recording, f"SELECT hb('{send}', '{receive}'), hb('{receive}', '{send}'), "
                         f"concurrent('{send}', '{receive}')")
            context.expect(answer == [["1", "0", "0"]], f"{send} and {receive}: {answer}")
    everything = value(context, recording, "SELECT count(*) FROM events WHERE hb('p1:1', event)")
    context.expect(everything == len(events) - 1, f"{everything} events came after the first one")
    answer = sql(context, recording, "SELECT concurrent('p2.2:1', 'p3.2:1'), hb('p2.2:1', 'p3.2:1')")
    context.expect(answer == [["1", "0"]], f"threads of different processes: {answer}")
    wrong = value(context, recording, "SELECT count(*) FROM edges WHERE causal AND from_event NOT LIKE 'barrier%' "
                  "AND to_event NOT LIKE 'barrier%' AND NOT hb(from_event, to_event)")
    context.expect(wrong == 0, f"{wrong} edges that are no order")


def test_graph_tables_mistakes(context):
    """One line that says what and what to try."""
    recording = context.path("recording")
    context.record(recording, ["true"])
    for query, word in (("DELETE FROM events", b"only read"), ("SELEKT 1", b"not SQL"), ("SELECT * FROM evnts", b"there are processes"),
                        ("SELECT knd FROM events", b"--help"), ("SELECT hb('p1:1', 'p9:1')", b"p9"), ("", b"no query")):
        result = context.run([context.pastcone, "sql", recording, query], label=query)
        context.expect_one_line(query, result)
        context.expect(word in result.stderr, f"{query}: does not say {word}", result)
    result = context.run([context.pastcone, "export", recording, "--format=pdf"], label="format")
    context.expect_one_line("format", result)


def exported(context, recording, *options):
    result = context.run([context.pastcone, "export", recording, *options], label=f"export {options}")
    context.expect(result.status == 0, f"export {options}", result)
    return result.stdout.decode()


def test_graph_tables_perfetto(context):
    """A slice per event, an arrow per message that begins and ends inside them and never goes back."""
    for program in ("counted_steps", "packets_kinds", "packets_shared"):
        recording = recorded(context, program)
        trace = json.loads(exported(context, recording, "--format=perfetto"))["traceEvents"]
        slices = collections.defaultdict(list)
        for event in trace:
            if event["ph"] == "X":
                slices[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        count = value(context, recording, "SELECT count(*) FROM events")
        context.expect(sum(map(len, slices.values())) == count, f"{program}: not {count} slices")
        begins = {event["id"]: event for event in trace if event["ph"] == "s"}
        ends = {event["id"]: event for event in trace if event["ph"] == "f"}
        messages = value(context, recording, "SELECT count(*) FROM messages WHERE send IS NOT NULL AND receive IS NOT NULL")
        context.expect(len(begins) == messages and begins.keys() == ends.keys(), f"{program}: {len(begins)} arrows, not {messages}")
        context.expect(messages > 0, f"{program}: no messages")
        for each in [*begins.values(), *ends.values()]:
            inside = any(begin <= each["ts"] < end for begin, end in slices[each["tid"]])
            context.expect(inside, f"{program}: an arrow that is in no slice: {each}")
        context.expect(all(begins[i]["ts"] < ends[i]["ts"] for i in begins), f"{program}: an arrow goes back")


def test_graph_tables_where(context):
    """All formats say where in the program events are, if they are asked."""
    recording = recorded(context, "counted_steps")
    place = re.compile(r"counted_steps\.c:\d+ in \w+")
    for format in ("perfetto", "shiviz", "dot"):
        context.expect(not place.search(exported(context, recording, f"--format={format}")), f"{format}: a place that nobody wanted")
        context.expect(place.search(exported(context, recording, f"--format={format}", "--where")), f"{format}: no place")


def test_graph_tables_shiviz(context):
    """Its own regular expression reads all of it, and clocks count."""
    recording = recorded(context, "counted_steps")
    log = exported(context, recording, "--format=shiviz")
    entries = re.findall(r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})\n", log)
    context.expect(len(entries) == value(context, recording, "SELECT count(*) FROM events"), "not as many entries as events")
    counts = collections.Counter()
    for event, host, clock in entries:
        counts[host] += 1
        context.expect(json.loads(clock)[host] == counts[host], f"{event}: {clock}")
    receive = sql(context, recording, "SELECT send, receive FROM messages LIMIT 1")[0]
    sender, number = receive[0].split(":")
    clock = next(json.loads(clock) for event, _, clock in entries if event.startswith(receive[1] + " "))
    context.expect(clock[sender] >= int(number), f"{receive[1]} does not know {receive[0]}: {clock}")


def test_graph_tables_dot(context):
    """graphviz draws it, if it is there; too much for a picture is refused."""
    recording = recorded(context, "counted_steps")
    count = value(context, recording, "SELECT count(*) FROM events")
    context.expect(count < EXPORT_LIMIT, f"{count} events")
    file = context.path("picture.dot")
    exported(context, recording, "--format=dot", "-o", file)
    with open(file, encoding="utf-8") as text:
        picture = text.read()
    context.expect(len(re.findall(r'^    "p[0-9.:]+" \[label=', picture, re.M)) == count, "not a node per event")
    context.expect(len(re.findall("subgraph cluster_p", picture)) == 4, "not a cluster per process")
    edges = value(context, recording, "SELECT count(*) FROM edges")
    context.expect(len(re.findall("constraint=", picture)) == edges, f"not {edges} edges")
    linked = exported(context, recording, "p2", "p3", "--format=dot", "--linked")
    context.expect(0 < len(linked) < len(picture), "--linked leaves nothing out")
    many = context.path("many")
    context.record(many, ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={EXPORT_LIMIT}"])
    result = context.run([context.pastcone, "export", many, "--format=dot", "-o", file], label="too many")
    context.expect_one_line("too many", result)
    context.expect(b"--linked" in result.stderr and not os.path.exists(file), "too many", result)
    if shutil.which("dot"):
        drawn = context.run([shutil.which("dot"), "-Tsvg"], label="dot", stdin=linked.encode())
        context.expect(drawn.status == 0, "dot", drawn)
        context.expect(xml.dom.minidom.parseString(drawn.stdout).documentElement.tagName == "svg", "no picture", drawn)
