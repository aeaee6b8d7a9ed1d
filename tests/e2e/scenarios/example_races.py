"""races on examples/: it names the receives that make the result of vote vary, and none of vote-in-turn, whose result does not."""
import json
import os


def recorded(context, example):
    recording = context.path(example)
    result = context.record(recording, [os.path.join(context.options.build, "examples", example)])
    context.expect(result.status == 0, f"record {example}", result)
    return recording


def answer(context, *arguments):
    result = context.run([context.pastcone, *arguments], label=" ".join(arguments[:2]))
    context.expect(result.status == 0, " ".join(arguments), result)
    return result.stdout.decode()


def votes(context, recording):
    """What the collector received, in order: (receive, send), as far as a poll had two to choose from."""
    events = [json.loads(line) for line in answer(context, "events", recording, "--json").splitlines()]
    sends = {}
    for event in events:
        if event["kind"] == "sendto":
            sends.setdefault(event["channel"], []).append(event["event"])
    received = [(event["event"], sends[event["channel"]]) for event in events if event["kind"] == "recvfrom" and event["result"] > 0]
    taken = {id(list_): 0 for list_ in sends.values()}
    for receive, list_ in received:
        number = taken[id(list_)]
        taken[id(list_)] += 1
        others = [other[taken[id(other)]] for other in sends.values() if other is not list_ and taken[id(other)] < len(other)]
        yield receive, list_[number], others


def line_of(text):
    with open(os.path.join(os.path.dirname(__file__), "../../../examples/vote.c"), encoding="utf-8") as file:
        lines = [number for number, line in enumerate(file, 1) if f" {text}" in line]
    return lines[0]


def test_example_races_vote(context):
    """Senders that never wait for anybody: a vote could always have been the next one of the other sender, if there is one."""
    recording = recorded(context, "vote")
    wanted = {receive: (send, others) for receive, send, others in votes(context, recording) if others}
    context.expect(len(wanted) > 50, f"only {len(wanted)} votes with a rival: {wanted}")
    races = json.loads(answer(context, "races", recording, "--json"))
    found = {each["receive"]: (each["took"], each["raced"]) for group in races["groups"] if group["call"] == "recvfrom"
             for each in group["receives"]}
    context.expect(found == wanted, f"differs: {set(found) ^ set(wanted)}")
    # They are one place in the source, the most frequent.
    first = races["groups"][0]
    context.expect(len(first["receives"]) == len(wanted) and first["call"] == "recvfrom", f"{first}")
    context.expect((first["location"]["function"], first["location"]["line"]) == ("collect", line_of("recv(")), f"{first['location']}")
    place = f"vote.c:{line_of('recv(')} in collect"
    text = answer(context, "races", recording)
    context.expect(f"{len(wanted)} receives at {place} by recvfrom of " in text, text)
    counts = answer(context, "sql", recording, "SELECT location, count(DISTINCT receive) FROM races GROUP BY location ORDER BY 2 DESC").splitlines()
    context.expect(counts[1] == f"{place}\t{len(wanted)}", f"{counts}")
    # The senders connect in any order too.
    accepts = [group for group in races["groups"] if group["call"] == "accept"]
    context.expect(len(accepts) == 1 and len(accepts[0]["receives"]) == 1, f"{accepts}")
    sizes = [len(group["receives"]) for group in races["groups"]]
    context.expect(sizes == sorted(sizes, reverse=True) and sum(sizes) == races["receives"], f"{sizes}")
    rows = answer(context, "sql", recording, "SELECT receive, took, rival FROM races WHERE channel IS NOT NULL ORDER BY receive").splitlines()[1:]
    context.expect(rows == sorted("\t".join((receive, took, rival)) for receive, (took, rivals) in found.items() for rival in rivals), f"{rows}")
    check_figures(context, recording, races)


def check_figures(context, recording, races):
    """info --races and the files of export --format=p3 agree with races."""
    figures = json.loads(answer(context, "info", recording, "--races", "--json"))["races"]
    context.expect(figures["raced"] == races["receives"] and figures["traced"] == races["traced"], f"{figures}")
    context.expect(figures["raced"] <= figures["receives"] and figures["traced"] <= figures["traced_on_the_fly"] <= figures["receives"], f"{figures}")
    head, *lines = (line.split("\t") for line in answer(context, "export", recording, "--format=p3").splitlines())
    records = {"TF": [], "CTF": []}
    for line in lines:
        records[line[0].rstrip("0123456789")].append(dict(zip(head, line)))
    context.expect(len(records["TF"]) == races["traced"], f"{len(records['TF'])} records, not {races['traced']}")
    by_receiver = [(int(each["RPN"]), int(each["RESN"])) for each in records["TF"]]
    by_sender = [(int(each["SPN"]), int(each["SESN"])) for each in records["CTF"]]
    context.expect(by_receiver == sorted(by_receiver) and by_sender == sorted(by_sender), f"{records}")
    pairs = {name: sorted((each["send"], each["receive"]) for each in list_) for name, list_ in records.items()}
    context.expect(pairs["TF"] == pairs["CTF"], f"{pairs}")


def test_example_races_vote_in_turn(context):
    """The same messages, received in a fixed order."""
    recording = recorded(context, "vote-in-turn")
    context.expect(len(list(votes(context, recording))) == 200, "not 200 votes")
    context.expect(answer(context, "races", recording) == "no receive could have taken another message\n", "races")
    context.expect(answer(context, "sql", recording, "SELECT count(*) FROM races").splitlines()[1:] == ["0"], "sql")
    context.expect(len(answer(context, "export", recording, "--format=p3").splitlines()) == 1, "export")
    figures = json.loads(answer(context, "info", recording, "--races", "--json"))["races"]
    context.expect(figures["raced"] == figures["traced"] == 0 and figures["receives"] == 202, f"{figures}")
