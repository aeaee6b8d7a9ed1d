"""What tests of docs/limitations.md have in common: what is said, refused or run outside; and surroundings that forbid a call."""
import os
import re
import shutil

from building import compile_c


def said(recorded, *words):
    """Whether one of record's own lines has all these words."""
    return any(line.startswith("pastcone: ") and all(word in line for word in words) for line in recorded.tool_lines())


def expect_refused(context, program, *words, **rest):
    """Refused as the command: one line that says why, nothing runs, nothing is left."""
    recording = context.path("refused")
    recorded = context.record(recording, [program], **rest)
    context.expect_one_line(f"{program} as the command", recorded)
    context.expect(said(recorded, os.path.basename(program), *words) and recorded.stdout == b"",
                   f"{program}: should be refused with {words}", recorded)
    context.expect(not os.path.exists(recording), "a recording was left")


def expect_outside(context, program, output, *words, user=None):
    """As a child it runs outside: as natively, named with the reason, and the replay is exact without it."""
    recording = context.path("mine", "outside")
    os.makedirs(context.path("mine"), exist_ok=True)
    if user is not None:
        for place in ("mine", "home"):
            os.chown(context.path(place), user, user)
    script = f"{program} | tr a-z A-Z; echo \"status ${{PIPESTATUS[0]}}\""
    recorded = context.record(recording, ["bash", "-c", script], user=user)
    context.expect(recorded.status == 0 and recorded.stdout == output, f"{program} as a child: should print {output!r}, "
                   f"printed {recorded.stdout!r}", recorded)
    context.expect(said(recorded, "p2", "is not recorded after", os.path.basename(program), *words),
                   f"{program}: record should say {words}", recorded)
    os.rename(program, program + ".away")
    context.expect_same("replay", recorded, context.replay(recording, user=user))
    shutil.rmtree(recording)
    os.rename(program + ".away", program)


def expect_exact_or_said(context, label, recording, recorded):
    """What cannot be replayed exactly is a divergence that is named, never another output."""
    replay = context.replay(recording)
    if replay.status == 0:
        context.expect_equal(label, recorded, replay)
    else:
        context.expect("diverged" in replay.stderr.decode(errors="replace"), f"{label}: should name the divergence", replay)
    return replay


DIVERGED = re.compile(r"pastcone: p\d+(\.\d+)?:\d+ diverged( (at|in) \S.*?)?: [^;]+; likely reason: \S.*")
HINT = "record again without --threads=parallel"


def expect_exact_or_hinted(context, label, recording, recorded, *options):
    """A parallel recording of threads that do not keep to locks: its replay is exact; or it fails, and its first line names
    thread, event, difference and reason, and says to record serially. The report, or None."""
    patience = 30 + 15 * recorded.seconds  # a thread that runs in circles is given ten times as long as it took
    replay = context.replay(recording, *options, timeout=patience)
    ours = [line for line in replay.tool_lines() if line.startswith("pastcone: ")]
    if replay.status == 0:
        context.expect("diverged" not in "".join(ours), f"{label}: status 0, but something diverged", replay)
        if not options:
            context.expect_equal(label, recorded, replay)
        return None
    context.expect(replay.status == 1 and ours, f"{label}: neither exact nor a divergence", replay)
    context.expect(DIVERGED.fullmatch(ours[0]), f"{label}: should name event, difference and reason: {ours[0]!r}", replay)
    context.expect(HINT in ours[0], f"{label}: should say what to do: {ours[0]!r}", replay)
    return ours[0]


REFUSING = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {  // the call, its second argument if that counts, the command
  unsigned call = strtoul(argv[1], 0, 0), argument = strtoul(argv[2], 0, 0);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | (argument ? BPF_JEQ : BPF_JGE) | BPF_K, argument, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 99;
  execv(argv[3], argv + 3);
  return 98;
}
"""
PERSONALITY, NAME_TO_HANDLE_AT, STATX, IOCTL, FS_IOC_GETVERSION = 135, 303, 332, 16, 0x80087601


def refusing(context, call, argument=0):
    """What to put in front of a command for which this call shall fail, as in a container that forbids it."""
    return [compile_c(context, "refusing", REFUSING), str(call), str(argument)]
