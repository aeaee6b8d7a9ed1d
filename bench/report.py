"""What the benchmarks found: rows, as a table or as JSON."""
import dataclasses
import json
import statistics
from typing import Optional

HEAD = ("", "base CPU", "wall", "pastcone CPU", "wall", "median", "min … max", "bound", "")


@dataclasses.dataclass
class Row:
    """One figure: a sample of it per round, its bound, and the times it was made from. The base is the native run,
    except where the name says otherwise."""
    name: str
    figure: list  # one per round that has one
    unit: str = ""
    bound: Optional[float] = None
    base: list = ()  # Usage per round
    tool: list = ()  # Usage per round, None if it failed
    scale: float = 1  # of the times: 1 s in their unit
    times: str = "s"  # that unit

    @property
    def median(self):
        return statistics.median(self.figure)

    @property
    def met(self):
        return None if self.bound is None else self.median <= self.bound

    def cells(self):
        return (self.name, *self._times(self.base), *self._times(self.tool), number(self.median, self.unit),
                f"{number(min(self.figure), self.unit)} … {number(max(self.figure), self.unit)}",
                "" if self.bound is None else f"≤ {number(self.bound, self.unit)}",
                {None: "", True: "met", False: "NOT MET"}[self.met])

    def _times(self, usages):
        usages = [u for u in usages if u]
        if not usages:
            return "", ""
        cpu = statistics.median(u.cpu for u in usages) * self.scale
        wall = statistics.median(u.wall for u in usages) * self.scale
        return number(cpu, self.times), number(wall, self.times)

    def to_json(self):
        return {"name": self.name, "median": self.median, "min": min(self.figure), "max": max(self.figure),
                "samples": self.figure, "unit": self.unit, "bound": self.bound, "met": self.met,
                "base": [dataclasses.asdict(u) for u in self.base if u],
                "pastcone": [dataclasses.asdict(u) for u in self.tool if u]}


def number(value, unit=""):
    """Three digits that count; ratios with three behind the point."""
    if unit == "x":
        return f"{value:.3f}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
    return f"{value:,.{digits}f}" + (f" {unit}" if unit else "")


def ratios(tool, base, of=lambda usage: usage.cpu):
    return [of(t) / of(b) for t, b in zip(tool, base) if t]


def replay_rows(name, native, recorded, replayed):
    """Bound 3: 1.1 times the native CPU time and 0.3 s; no more wall time than the recorded run."""
    good = [r for r in replayed if r]
    if not good:
        return []
    allowed = 1.1 * statistics.median(n.cpu for n in native) + 0.3
    return [
        Row(f"{name}: replay / native, CPU", [r.cpu for r in good], "s", allowed, native, replayed),
        Row(f"{name}: replay / recorded, wall", ratios(replayed, recorded, lambda u: u.wall), "x", 1.0, recorded,
            replayed),
    ]


def table(title, rows, problems):
    if not rows:
        return "\n".join([title, *problems]) + "\n"
    cells = [(title, *HEAD[1:])] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    text = []
    for line in cells:
        text.append("  ".join(c.ljust(w) if i in (0, len(HEAD) - 1) else c.rjust(w)
                              for i, (c, w) in enumerate(zip(line, widths))).rstrip())
    text.insert(1, "-" * max(map(len, text)))
    return "\n".join(text + problems) + "\n"


def as_json(machine, results):
    return json.dumps({"machine": machine, "benchmarks": results}, indent=1)
