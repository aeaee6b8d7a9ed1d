"""A terminal to run a step at."""
import os
import pty
import re
import time

# The step's session gets it as its own, so that Ctrl-C is typed.
TAKE = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
PROMPT = re.compile(rb"(?:^|\n|\x1b\[K)\(p[\d.]+:\d+\) $")


class Terminal:
    """What `argv` shows at a terminal of its own, and what is typed there."""

    def __init__(self, context, argv, label, env=None):
        self.context, self.label, self.seen = context, label, b""
        self.before = self.prompted = 0
        self.master, slave = pty.openpty()
        self.running = context.start(["/usr/bin/python3", "-c", TAKE, *argv], label=label, env={"TERM": "xterm", **(env or {})},
                                     streams=(slave, slave, slave))
        os.close(slave)
        os.set_blocking(self.master, False)

    def type(self, text):
        os.write(self.master, text)

    def wait_for(self, text, seconds=120, meanwhile=b""):
        """Until it shows the text, after what was waited for before; `meanwhile` is typed again and again."""
        begin, end = len(self.seen), time.monotonic() + seconds
        while text not in self.seen[begin:] and time.monotonic() < end and self.read():
            if meanwhile:
                self.type(meanwhile)
            time.sleep(0.02)
        self.context.expect(text in self.seen[begin:], f"{self.label}: the terminal never showed {text!r}: {self.seen[-1500:]!r}")

    def wait_for_prompt(self, seconds=120):
        """Until the debugger, at a terminal that is "dumb", asks for the next command."""
        self.before, end = self.prompted, time.monotonic() + seconds
        while not (prompt := PROMPT.search(self.seen, self.before)) and time.monotonic() < end and self.read():
            time.sleep(0.02)
        self.context.expect(prompt, f"{self.label}: there is no prompt: {self.seen[-1500:]!r}")
        self.prompted = len(self.seen)

    def since_last_prompt(self):
        """The lines from the command typed at the prompt before up to this one."""
        return self.seen[self.before:self.prompted].decode(errors="replace").replace("\r", "").split("\n")

    def finish(self, meanwhile=b""):
        """The exit status; all that was shown is in `seen`."""
        while self.read() and self.running.process.poll() is None:
            if meanwhile:
                self.type(meanwhile)
            time.sleep(0.02)
        result = self.running.finish()
        os.close(self.master)
        return result.status

    def read(self):
        """What is there; False: there will be no more."""
        try:
            while block := os.read(self.master, 65536):
                self.seen += block
        except BlockingIOError:
            return True
        except OSError:  # the other side is closed
            pass
        return False
