"""Objects that the program names, and what `show obj` says about them and about locks; in both modes of threads."""
import json
import os
import shutil

MODES = ("serial", "parallel")


def example(context, kind):
    return os.path.join(context.options.build, "examples", f"primes-{kind}")


def recorded(context, mode, argv):
    """A recording of the program that replays exactly."""
    context.fresh_work()
    recording = context.path("recording")
    shutil.rmtree(recording, ignore_errors=True)
    run = context.record(recording, argv, options=[f"--threads={mode}"])
    context.expect(run.status == 0, f"{mode}: record", run)
    for number in range(context.rounds(2, 10)):
        context.expect_same(f"{mode}: replay {number + 1}", run, context.replay(recording))
    return recording


def show(context, recording, which="all"):
    shown = context.run([context.pastcone, "show", "obj", which, recording, "--json"], label="show obj")
    context.expect(shown.status == 0, "show obj", shown)
    context.expect_nobody_left("show obj")
    return json.loads(shown.stdout)


def named(context, recording):
    """By name, those that have one."""
    return {each["name"]: each for each in show(context, recording) if each["name"]}


def who(history):
    return [access["thread"] for access in history["accesses"]]


def kinds(history):
    return "".join(access["access"] for access in history["accesses"])


def test_parallel_objects_primes(context):
    """The two objects of examples/primes: every piece of work is taken once, and p1 reads the total last."""
    pieces, workers = 40, 3
    for kind in ("threads", "processes"):
        for mode in MODES:
            recording = recorded(context, mode, [example(context, kind), "100", str(workers), str(pieces * 100)])
            objects = named(context, recording)
            context.expect(sorted(objects) == ["total", "work"], f"{kind}, {mode}: has the objects {list(objects)}")
            work, total = objects["work"], objects["total"]
            # By who used them first: which worker that is may differ.
            numbers = sorted([work["object"], total["object"]])
            context.expect(numbers == [1, 2], f"{kind}, {mode}: not numbered 1 and 2")
            context.expect(kinds(work) == "w" * (pieces + workers), f"{kind}, {mode}: work was {kinds(work)}")
            context.expect(kinds(total) == "w" * pieces + "r" and who(total)[-1] == "p1",
                           f"{kind}, {mode}: total was {kinds(total)} by {who(total)}")
            context.expect(len(set(who(work))) == workers == work["threads"], f"{kind}, {mode}: work by {set(who(work))}")


def test_parallel_objects_threads(context):
    """Reads and writes by threads are all there; begins inside a write or a read are none."""
    for mode in MODES:
        recording = recorded(context, mode, [context.program("parallel_objects_threads")])
        objects = named(context, recording)
        context.expect(sorted(kinds(objects["mixed"])) == ["r"] * 12000 + ["w"] * 4000, f"{mode}: mixed is not complete")
        context.expect(kinds(objects["steps"]) == "w" * 4000, f"{mode}: steps is not complete")
        shutil.rmtree(recording)


def test_parallel_objects_guards(context):
    """The C++ API."""
    for mode in MODES:
        objects = named(context, recorded(context, mode, [context.program("parallel_objects_guards")]))
        context.expect(kinds(objects["account"]).count("w") == 1500 and kinds(objects["account"]).count("r") == 16,
                       f"{mode}: account was {kinds(objects['account'])}")


def test_parallel_objects_processes(context):
    """Processes that share memory in three ways, and locks in it, which lie at other addresses in each."""
    for mode in MODES:
        recording = recorded(context, mode, [context.program("parallel_objects_processes")])
        objects = show(context, recording)
        names = {each["name"]: each for each in objects if each["name"]}
        for name in ("inherited", "mapped", "attached"):
            context.expect(len(names[name]["accesses"]) == 9000 + 2 * (name == "inherited") and names[name]["shared"],
                           f"{mode}: {name} has {len(names[name]['accesses'])} accesses")
        locks = sorted(each["kind"] for each in objects if not each["name"])
        wanted = ["mutex"] * 3 + ["rwlock"] * 3 + ["semaphore"] * 3 if mode == "parallel" else []
        context.expect(locks == wanted, f"{mode}: has the locks {locks}")
        for each in objects:
            if each["kind"] in ("mutex", "rwlock"):
                context.expect(len(each["accesses"]) == 9000, f"a {each['kind']} has {len(each['accesses'])} accesses")


def test_parallel_objects_made_again(context):
    """What is made again at the same place is a new object, and so is a child's copy."""
    recording = recorded(context, "parallel", [context.program("parallel_objects_again")])
    objects = show(context, recording)
    context.expect([(each["name"], who(each), kinds(each)) for each in objects if each["name"]] ==
                   [("first", ["p1.2", "p1.3"], "ww"), ("second", ["p1.4", "p1.5", "p1"], "wwr"), ("second", ["p2"], "r")],
                   f"the named ones are {objects}")
    mutexes = [who(each) for each in objects if each["kind"] == "mutex" and len(set(who(each))) == 2]
    context.expect(mutexes == [["p1.2", "p1.3"], ["p1.4", "p1.5"]], f"the mutexes are used by {mutexes}")
    context.expect([each["object"] for each in show(context, recording, "second")] == [2, 3], "both called second")


def test_parallel_objects_always_the_same(context):
    """Numbers and histories are those of the recording, not of the replay that found them out; damage is noticed."""
    recording = recorded(context, "parallel", [context.program("parallel_objects_threads")])
    index = os.path.join(recording, "objects.idx")
    first = show(context, recording)
    for _ in range(context.rounds(2, 10)):
        os.remove(index)
        context.expect(show(context, recording) == first, "another history the next time")
    with open(index, "r+b") as file:
        file.seek(os.path.getsize(index) // 2)
        file.write(b"damaged")
    context.expect(show(context, recording) == first, "a damaged index was used")
    with open(index, "rb") as file:
        context.expect(b"damaged" not in file.read(), "a damaged index was not made again")


def test_parallel_objects_what_it_says(context):
    """The text, by number and name; info's list; one line for what is not there."""
    recording = recorded(context, "parallel", [example(context, "processes"), "1000", "1", "3000"])
    info = [context.pastcone, "info", recording]
    context.expect(b"show obj" in context.run(info).stdout, "info does not say how to get the objects")
    for which in ("1", "work"):
        shown = context.run([context.pastcone, "show", "obj", which, recording])
        context.expect(shown.stdout.splitlines()[-1] == b"  0: 2w 1: 2w 2: 2w 3: 2w", f"{which}: said {shown.stdout}", shown)
    lines = context.run(info).stdout.splitlines()
    context.expect(any(line.split() == [b"4", b"0", b"1", b"1", b"object", b"work"] for line in lines), f"info: {lines}")
    context.expect_one_line("an unknown object", context.run([context.pastcone, "show", "obj", "nothing", recording]))
    context.expect_one_line("no objects are shown", context.run([context.pastcone, "show", "nothing"]))
