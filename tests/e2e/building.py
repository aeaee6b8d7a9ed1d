"""Programs that a test compiles for itself, in its working directory."""
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
