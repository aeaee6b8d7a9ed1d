"""Programs that a scenario writes and compiles itself."""
import os
import subprocess

from steps import Skip


def compile_c(context, name, source, *flags):
    context.need("gcc")
    context.write(f"{name}.c", source)
    built = subprocess.run(["gcc", "-O1", "-g", "-o", name, f"{name}.c", *flags], cwd=context.work, capture_output=True,
                           check=False)
    if built.returncode:
        raise Skip(f"gcc {' '.join(flags)} does not work here")
    return os.path.join(context.work, name)
