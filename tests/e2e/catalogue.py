"""The test programs of tests/programs, and what the first two lines of each say about it."""
import os
import signal

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")


class Program:
    """One file of tests/programs; its second line says how it ends and what may vary."""

    def __init__(self, path):
        self.name = os.path.basename(path).rsplit(".", 1)[0]
        with open(path, encoding="utf-8") as file:
            self.about = file.readline()[3:].strip()
            tags = file.readline()
        if not tags.startswith("// e2e: "):
            raise ValueError(f"{path}: the second line does not start with '// e2e: '")
        words = tags[len("// e2e: "):].split()
        options = dict(word.split("=", 1) for word in words if "=" in word)
        self.stable, self.helper, self.bound = "stable" in words, "helper" in words, "bound" in words
        self.parallel = "parallel" in words
        end = options.get("exit", "0")
        self.status = 128 + getattr(signal, end) if end.startswith("SIG") else int(end)
        self.args = [arg for arg in options.get("args", "").split(",") if arg]
        self.needs = options.get("needs")
        lines = int(options.get("stdin", 0))
        self.stdin = b"".join(b"line %d of the input\n" % n for n in range(lines)) if lines else None


def programs():
    names = sorted(name for name in os.listdir(PROGRAMS) if name.endswith((".c", ".cc")))
    return [Program(os.path.join(PROGRAMS, name)) for name in names]
