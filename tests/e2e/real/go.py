"""Go programs: a runtime of their own, without libc, that interrupts its threads with SIGURG. Debian's are stripped."""
import os
import subprocess

SOURCES = os.path.join(os.path.dirname(__file__), "..", "..", "go")

AGE = """
age-keygen -o key 2>&1
echo 'a secret' | age -r $(age-keygen -y key) -a > secret && cat secret && age -d -i key secret
"""


def build(context, name, *flags):
    context.need("go")
    subprocess.run(["go", "build", *flags, "-o", context.path(name), os.path.join(SOURCES, name + ".go")], check=True,
                   cwd=context.dir, env={**os.environ, "GO111MODULE": "off", "GOCACHE": context.path("gocache")})
    return [context.path(name)]


def test_go_fzf(context):
    """fzf, stripped and at fixed addresses: filters in parallel."""
    context.need("fzf")
    context.exact(["bash", "-c", "seq 1 20000 | fzf -f 77 | sha256sum"], stable=True, status=0)


def test_go_age(context):
    """age, stripped and position independent: makes a key, encrypts and decrypts."""
    context.need("age", "age-keygen")
    context.exact(["bash", "-c", AGE], status=0)


def test_go_goroutines(context):
    """Channels, timers, garbage collection and preemption."""
    context.exact(build(context, "goroutines"), status=0, timeout=120)


def test_go_http(context):
    """A server and clients over loopback, a child, signals; built without symbols."""
    context.exact(build(context, "http_loopback", "-ldflags=-s -w"), status=0, timeout=60)


def test_go_version(context):
    """The go command itself."""
    context.need("go")
    context.exact(["go", "version"], stable=True, status=0)
