"""docs/limitations.md, contents: what is stored, and what replay cannot know."""
import fcntl
import os

from building import compile_c
from limit_checks import FS_IOC_GETVERSION, IOCTL, NAME_TO_HANDLE_AT, STATX, expect_exact_or_said, refusing


MAPPED = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int fd = open("shared.bin", O_RDWR | O_CREAT | O_TRUNC, 0600), go[2];
  char text[] = "written";
  if (fd < 0 || ftruncate(fd, 4096) || pipe(go)) return 1;
  char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!fork()) {
    int own = open("shared.bin", O_WRONLY);
    if (pwrite(own, text, sizeof text, 100) < 0 || write(go[1], "g", 1) != 1) return 1;
    return 0;
  }
  if (read(go[0], text, 1) != 1) return 1;
  printf("%s\\n", memory + 100);
  wait(0);
  return 0;
}
"""


def test_limit_none_mapped_file_written(context):
    """A file that is mapped shared and written by another recorded process is replayed exactly."""
    program = compile_c(context, "mapped", MAPPED)
    recording = context.path("recording")
    recorded = context.record(recording, [program])
    context.expect(recorded.status == 0 and recorded.stdout == b"written\n", "record", recorded)
    context.expect_same("replay", recorded, context.replay(recording))


CHANGED = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  int fd = open("shared.bin", O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ftruncate(fd, 4096)) return 1;
  volatile char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  puts("ready");
  fflush(stdout);
  while (!memory[0]) usleep(10000);
  printf("%c\\n", memory[0]);
  return 0;
}
"""


def test_limit_mapped_file_outside(context):
    """A file that is mapped shared and changed by a process outside: replay does not see it, and says that it diverged."""
    program = compile_c(context, "changed", CHANGED)
    recording = context.path("recording")
    running = context.start_record(recording, [program])
    running.wait_for_output(b"ready\n")
    with open(os.path.join(context.work, "shared.bin"), "r+b") as file:
        file.write(b"x")
    recorded = running.finish()
    context.expect(recorded.status == 0 and recorded.stdout == b"ready\nx\n", "record", recorded)
    replay = expect_exact_or_said(context, "replay", recording, recorded)
    context.expect(replay.status != 0, "replay cannot know the change", replay)


REMADE = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char use(char byte) {  // a new file; what was in its first page
  int fd = open("remade.bin", O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0 || ftruncate(fd, 4096)) _exit(1);
  char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char was = memory[0];
  memset(memory, byte, 4096);
  munmap(memory, 4096);
  close(fd);
  unlink("remade.bin");
  return was;
}
int main(void) {
  for (int i = 1; i <= 50; i++) printf("%d: %d\\n", i, use((char)i));
  return 0;
}
"""


def has_generations(path):
    with open(path, "rb") as file:
        try:
            fcntl.ioctl(file, FS_IOC_GETVERSION, bytes(8))
        except OSError:
            return False
    return True


def test_limit_file_identity(context):
    """Files that are mapped, deleted and made again with the same number are told apart, if the file system tells; else replay is
    exact or says so in parallel mode, and exact in serial mode."""
    program = compile_c(context, "remade", REMADE)
    handles, generations = refusing(context, NAME_TO_HANDLE_AT), refusing(context, IOCTL, FS_IOC_GETVERSION)
    births, exact = refusing(context, STATX), 3 if has_generations(program) else 0
    for number, without in enumerate(([], handles, [*handles, *births], [*handles, *generations, *births])):
        for mode in ("serial", "parallel"):
            recording = context.path(f"{mode}{number}")
            recorded = context.run([*without, context.pastcone, "record", f"--threads={mode}", "-o", recording, "--", program],
                                   label="record")
            context.expect(recorded.stdout == b"".join(b"%d: 0\n" % n for n in range(1, 51)), "record", recorded)
            if mode == "parallel" and number >= exact:
                expect_exact_or_said(context, "replay", recording, recorded)
            else:
                context.expect_same("replay", recorded, context.replay(recording))


def test_limit_seen_from_outside(context):
    """For others /proc/PID/exe of a recorded process is the runtime; for itself it is the program."""
    recording = context.path("recording")
    running = context.start_record(recording, ["bash", "-c", "readlink /proc/$$/exe; readlink /proc/self/exe; echo $$; read x"],
                                   stdin=os.pipe()[0])
    running.wait_for_output(b"\n")
    while running.output["stdout"].count(b"\n") < 3:
        running.wait_for_output(b"\n")
    lines = running.output["stdout"].split()
    exe = os.readlink(f"/proc/{int(lines[2])}/exe")
    with open(f"/proc/{int(lines[2])}/maps", encoding="utf-8") as maps:
        mapped = maps.read()
    context.kill_all()
    running.finish()
    context.expect(exe.endswith("pastcone-runtime"), f"/proc/PID/exe is {exe}")
    context.expect("pastcone-runtime" in mapped, "the memory map has no runtime")
    context.expect(lines[0].endswith(b"pastcone-runtime") and lines[1] == os.path.realpath("/usr/bin/readlink").encode(),
                   f"seen from inside: {lines!r}")
