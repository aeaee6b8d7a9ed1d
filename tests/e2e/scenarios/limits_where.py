"""docs/limitations.md, where it runs: what the machine must have or allow."""
import json
import os
import re
import resource
import sys

from building import compile_c
from limit_checks import PERSONALITY, refusing, said


def test_limit_personality(context):
    """Where personality(2) is forbidden, record says so and does not start, and doctor tells."""
    without = refusing(context, PERSONALITY)
    recording = context.path("recording")
    recorded = context.run([*without, context.pastcone, "record", "-o", recording, "--", "echo", "ran"], label="record")
    context.expect_one_line("record", recorded)
    context.expect(said(recorded, "personality") and recorded.stdout == b"", "record: should name personality", recorded)
    context.expect(not os.path.exists(recording), "a recording was left")
    doctor = context.run([*without, context.pastcone, "doctor"], label="doctor")
    context.expect(doctor.status != 0 and re.search(rb"(?m)^(?!ok).*randomisation", doctor.stdout), "doctor", doctor)


def edit(path, change):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(change(text))


def test_limit_surroundings(context):
    """Replay names what differs: a feature that the processor lacks, a system file that has changed."""
    recording = context.path("recording")
    context.expect(context.record(recording, ["echo", "hello"]).status == 0, "record")

    def more_features(text):
        manifest = json.loads(text)
        manifest["cpu"].append("avx9000")
        return json.dumps(manifest)
    manifest = os.path.join(recording, "manifest.json")
    edit(manifest, more_features)
    replay = context.replay(recording)
    context.expect_one_line("another processor", replay)
    context.expect("avx9000" in replay.stderr.decode(), "replay should name the feature", replay)
    edit(manifest, lambda text: text.replace("avx9000", "unheardof"))  # not an instruction set
    context.expect(context.replay(recording).status == 0, "replay with a flag that does not matter")

    names = []

    def another_file(text):
        lines = [json.loads(line) for line in text.splitlines()]
        entry = next(entry for entry in lines if entry["kept"] is None)
        names.append(entry["path"])
        entry["hash"] = "0123456789abcdef"
        entry["mtime_ns"] += 1
        return "".join(json.dumps(line) + "\n" for line in lines)
    edit(os.path.join(recording, "files.jsonl"), another_file)
    replay = context.replay(recording)
    context.expect_one_line("another file", replay)
    context.expect(names[0] in replay.stderr.decode(), f"replay should name {names[0]}", replay)


LIMITED = """
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1) < 0) return 1;
  void* memory = mmap(0, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  puts(memory == MAP_FAILED ? "no memory" : "memory");
  return 0;
}
"""


def test_limit_address_space(context):
    """ulimit -v before record: hard, it does not start; soft, only the program has it. From outside, the runtime counts too."""
    limits = "import resource as r, sys, os; r.setrlimit(r.RLIMIT_AS, ({0}, {1})); os.execv(sys.argv[1], sys.argv[1:])"
    recording = context.path("recording")
    hard = context.run([sys.executable, "-c", limits.format(1 << 30, 1 << 30), context.pastcone, "record", "-o", recording, "--",
                        "true"], label="record")
    context.expect_one_line("a hard limit", hard)
    context.expect(said(hard, "ulimit -v"), "record: should name the limit", hard)
    context.expect(not os.path.exists(recording), "a recording was left")
    soft = [sys.executable, "-c", limits.format(1 << 30, resource.getrlimit(resource.RLIMIT_AS)[1])]
    recorded = context.run([*soft, context.pastcone, "record", "-o", recording, "--", "bash", "-c", "ulimit -Sv"], label="record")
    context.expect(recorded.status == 0 and recorded.stdout == b"1048576\n", "the program should have the soft limit", recorded)
    context.expect_same("replay", recorded, context.run([*soft, context.pastcone, "replay", recording], label="replay"))

    read_end, write_end = os.pipe()
    running = context.start_record(context.path("outside"), [compile_c(context, "limited", LIMITED)], stdin=read_end)
    running.wait_for_output(b"ready\n")
    for pid in context.mine():
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            if file.read() == "limited\n":
                resource.prlimit(pid, resource.RLIMIT_AS, (300 << 20, resource.RLIM_INFINITY))
    os.write(write_end, b"x")
    recorded = running.finish()
    os.close(read_end)
    os.close(write_end)
    context.expect(recorded.stdout == b"ready\nno memory\n", f"record printed {recorded.stdout!r}", recorded)
    context.expect_same("replay", recorded, context.replay(context.path("outside")))
