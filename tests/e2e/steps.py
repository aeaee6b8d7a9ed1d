"""One step of a test: a process started in a session of its own, its output, its time limit, how it ended."""
import os
import re
import subprocess
import threading
import time

STEP_SECONDS = 60


class Failure(Exception):
    """What was expected and what came instead; the text is shown to the user."""


class Skip(Exception):
    """This test cannot say anything on this machine; the text says why."""


class Result:
    """How one step ended. A death by signal n is status 128 + n, as a shell shows it."""

    def __init__(self, label, status, stdout, stderr, seconds):
        self.label, self.stdout, self.stderr, self.seconds = label, stdout, stderr, seconds
        self.status = status if status >= 0 else 128 - status

    def program_stderr(self):
        """stderr without pastcone's own lines; its closing line may follow an unfinished one of the program."""
        text = re.sub(rb"pastcone: [^\n]*\n\Z", b"", self.stderr)
        return re.sub(rb"(?m)^pastcone: [^\n]*\n", b"", text)

    def tool_lines(self):
        return [line for line in self.stderr.decode(errors="replace").splitlines() if line.strip()]


class Running:
    """A started step whose output is collected in the background, for tests that act on it while it runs."""

    def __init__(self, context, label, process):
        self.context, self.label, self.process = context, label, process
        self.started, self.output = time.monotonic(), {"stdout": b"", "stderr": b""}
        self.readers = [threading.Thread(target=self._read, args=(name, stream), daemon=True)
                        for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)) if stream]
        for reader in self.readers:
            reader.start()

    def _read(self, name, stream):
        while block := os.read(stream.fileno(), 65536):
            self.output[name] += block

    def wait_for_output(self, text, seconds=STEP_SECONDS):
        end = time.monotonic() + seconds
        while text not in self.output["stdout"]:
            if time.monotonic() > end or (self.process.poll() is not None and not self.readers[0].is_alive()):
                self.context.kill_all()
                raise Failure(f"{self.label}: never printed {text!r}; stderr: {self.output['stderr'][-500:]!r}")
            time.sleep(0.005)

    def finish(self, seconds=STEP_SECONDS):
        """The result, when the process has ended and nobody holds its output any more."""
        end = self.started + seconds
        late = False
        try:
            self.process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            late = True
        for reader in self.readers:
            reader.join(0 if late else max(0.1, end - time.monotonic()))
            late = late or reader.is_alive()
        if late:
            self.context.kill_all()
            self.process.wait()
            for reader in self.readers:
                reader.join(5)
        for stream in (self.process.stdout, self.process.stderr):
            if stream and not any(reader.is_alive() for reader in self.readers):
                stream.close()
        result = Result(self.label, self.process.returncode, self.output["stdout"], self.output["stderr"],
                        time.monotonic() - self.started)
        self.context.results.append(result)
        if late:
            raise Failure(f"{self.label}: not ended after {seconds} s")
        return result
