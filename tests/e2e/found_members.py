"""Where members lie in the global structures of a program without debug information: by looking for values that it tells us itself."""
import re
import struct
import subprocess

from steps import Skip


def dynamic_symbol(program, name):
    """Address and size of a global that the program exports."""
    listed = subprocess.run(["nm", "-D", "-S", program], capture_output=True, text=True, check=False).stdout
    found = re.search(rf"^([0-9a-f]+) ([0-9a-f]+) [BD] {name}$", listed, re.M)
    if not found:
        raise Skip(f"{program} does not export {name}")
    return int(found[1], 16), int(found[2], 16)


def words_of(pid, address, size):
    """The memory of a process of ours, in words of 8 bytes; the address is that in its (position independent) file."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        base = int(maps.readline().split("-")[0], 16)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(base + address)
        return [word for (word,) in struct.iter_unpack("<q", memory.read(size // 8 * 8))]


def member(samples):
    """The one offset at which each sample, (words, value), has its value."""
    places = set.intersection(*({8 * index for index, word in enumerate(words) if word == value} for words, value in samples))
    if len(places) != 1:
        raise Skip(f"a member could be at {sorted(places)}")
    return places.pop()
