"""What tests make for themselves: programs in their working directory, file systems."""
import os
import subprocess

from steps import Skip


def compile_c(context, name, source, *flags, compiler="gcc"):
    context.need(compiler)
    context.write(f"{name}.c", source)
    built = subprocess.run([compiler, "-O1", "-g", "-o", name, f"{name}.c", *flags], cwd=context.work, capture_output=True,
                           check=False)
    if built.returncode:
        raise Skip(f"{compiler} {' '.join(flags)} does not work here")
    return os.path.join(context.work, name)


def hello(text):
    return f'#include <stdio.h>\nint main(void) {{ printf("{text}\\n"); return 0; }}\n'


def mount_small(context, size):
    context.need_root()
    place = context.path(f"disk{size}")
    os.mkdir(place)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=1777", "tmpfs", place], check=False).returncode:
        raise Skip("cannot mount a tmpfs here")
    context.cleanups.append(lambda: subprocess.run(["umount", "-l", place], check=False))
    return place
