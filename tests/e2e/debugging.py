"""Sessions of pastcone debug, in batches of commands."""
import re

VALUE = re.compile(r"^\$\d+ = (-?\d+)$")
PLACE = re.compile(r"^[* ] (p\d+):(\d+ +.*)$")
GONE = re.compile(r"not begun|ended|^0 ")  # p2:0 is forked, and has done nothing


def debug(context, recording, *commands, label=None, env=None, **rest):
    """Runs the commands in order; the result of the whole session. In every other one, processes tell of their writes themselves
    as soon as they can, and not only once there have been many."""
    arguments = [argument for command in commands for argument in ("-ex", command)]
    context.debug_sessions += 1
    env = {**({"PASTCONE_TELL_AFTER": "1"} if context.debug_sessions % 2 else {}), **(env or {})}
    result = context.run([context.pastcone, "debug", recording, "--batch", *arguments], label=label or "debug", env=env, **rest)
    context.expect_nobody_left("debug")
    return result


def expect_lines(context, text, *lines):
    """That they are in the text, each behind the one before."""
    at = 0
    for line in lines:
        found = text.find(line, at)
        context.expect(found >= 0, f"{line!r} does not follow in:\n{text}")
        at = found + len(line)


def line_of(source, mark):
    """The number of the line that ends in `// mark`, or has more behind that."""
    return next(number for number, line in enumerate(source.splitlines(), 1) if f"// {mark}" in line)


def values(text):
    """What `print` printed, in order."""
    return [int(match.group(1)) for match in map(VALUE.match, text.splitlines()) if match]


def places(text):
    """process → what its line of `where` says. Later lines count."""
    return {match.group(1): match.group(2) for match in map(PLACE.match, text.splitlines()) if match}


def stand(context, recording, commands, processes, variables, label=None):
    """Goes somewhere by the commands; process → variable → value there, for the given processes, and the text of the session."""
    looks = [command for process in processes for command in (f"focus {process}", *(f"print {name}" for name in variables))]
    result = debug(context, recording, *commands, "where", *looks, label=label)
    text = result.stdout.decode(errors="replace")
    found = values(text)
    context.expect(len(found) == len(processes) * len(variables),
                   f"{label}: {len(found)} values instead of {len(processes) * len(variables)} after {commands}", result)
    numbers = iter(found)
    return {process: {name: next(numbers) for name in variables} for process in processes}, text


def is_gone(text, process):
    """Whether `where` says that the process is not there, not yet or no longer."""
    return process not in places(text) or bool(GONE.search(places(text)[process]))
