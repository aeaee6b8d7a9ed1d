"""Comparing outputs and directories."""
import hashlib
import os


def first_difference(expected, actual):
    a, b = expected.split(b"\n"), actual.split(b"\n")
    for number in range(max(len(a), len(b))):
        left = a[number] if number < len(a) else None
        right = b[number] if number < len(b) else None
        if left != right:
            show = lambda x: "nothing" if x is None else repr(x[:200])[1:]
            return f"line {number + 1}: expected {show(left)}, got {show(right)}"
    return "no difference"


def tree_state(root):
    """Names, sizes, times and contents of all that is below `root`."""
    state = {}
    for folder, _, files in os.walk(root):
        for name in [""] + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = b""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).digest()
            state[path] = (info.st_mode, info.st_size, info.st_mtime_ns, content)
    return state


def stored_bytes(root):
    """What a recording takes on disk."""
    return sum(os.lstat(os.path.join(folder, name)).st_blocks * 512
               for folder, _, files in os.walk(root) for name in files)
