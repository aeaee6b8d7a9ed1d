"""PostgreSQL: a server of many processes around shared memory, semaphores in it, signals and latches."""
import os
import shutil

from harness import NOBODY
from steps import Skip

COMMON = """
export PATH=%(bin)s:$PATH LC_ALL=C
set -e
initdb -D data -A trust -N >/dev/null
serve() { pg_ctl -D data -w -l log -o "-k $PWD -c listen_addresses= -c autovacuum_naptime=1s" start >/dev/null || { cat log; exit 1; }; }
stop() { pg_ctl -D data -w -m fast stop; }
query() { psql -h "$PWD" -d postgres -At "$@"; }
"""

SESSIONS = COMMON + """
serve
query -c 'create table t(a int, b text)' -c "insert into t select i, md5(i::text) from generate_series(1, 2000) i"
for k in 1 2 3; do
  query -c 'select count(*), sum(a) from t' -c "update t set b = b || '$k' where a %% 7 = $k" -c 'select clock_timestamp()' &
done
wait $(jobs -p | tail -3)
query -c 'select b from t where a < 10 order by a' -c 'vacuum analyze t' -c checkpoint -c 'select pg_sleep(1.2)'
stop
"""

BENCH = COMMON + """
serve
pgbench -h "$PWD" -i -q postgres >/dev/null 2>&1
pgbench -h "$PWD" -c 4 -T %(seconds)d postgres 2>&1 | grep -v '^pgbench'
stop
"""

SERVER = COMMON + """
serve
pgbench -h "$PWD" -i -q postgres >/dev/null 2>&1
echo ready
tail --pid=$(head -1 data/postmaster.pid) -f /dev/null
"""


def programs(context):
    """Where Debian keeps them: not in PATH."""
    base = "/usr/lib/postgresql"
    versions = sorted(os.listdir(base), key=lambda name: int(name) if name.isdigit() else 0) if os.path.isdir(base) else []
    found = [os.path.join(base, version, "bin") for version in reversed(versions)]
    found = [path for path in found if os.path.exists(os.path.join(path, "initdb"))]
    if not found:
        raise Skip("postgresql is not installed")
    context.need("tail")
    return found[0]


def somebody():
    """PostgreSQL refuses to run as root."""
    return NOBODY if os.geteuid() == 0 else None


def test_postgres_sessions(context):
    """initdb, server, three psql at once, vacuum, checkpoint, stop; all recorded."""
    script = SESSIONS % {"bin": programs(context)}
    context.exact(["bash", "-c", script], status=0, timeout=120, user=somebody(), soak=10)


def test_postgres_pgbench(context):
    """pgbench with four connections, recorded with its server."""
    script = BENCH % {"bin": programs(context), "seconds": context.rounds(1, 5)}
    context.exact(["bash", "-c", script], status=0, timeout=120, user=somebody(), soak=10)


def test_postgres_clients_outside(context):
    """The same server with its clients outside."""
    where = programs(context)
    for number in range(context.rounds(1, 10)):
        context.fresh_work()
        recording = context.path(f"recording{number}")
        if somebody() is not None:
            for path in (context.dir, context.work, context.path("home")):
                os.chown(path, somebody(), somebody())
        server = context.start_record(recording, ["bash", "-c", SERVER % {"bin": where}], user=somebody())
        server.wait_for_output(b"ready", 60)
        load = context.run([os.path.join(where, "pgbench"), "-h", context.work, "-c", "4", "-T", str(context.rounds(1, 5)),
                            "postgres"], label="pgbench", timeout=120, user=somebody())
        context.expect(load.status == 0, "pgbench", load)
        stop = context.run([os.path.join(where, "pg_ctl"), "-D", os.path.join(context.work, "data"), "-w", "-m", "fast", "stop"],
                           label="pg_ctl", user=somebody())
        context.expect(stop.status == 0, "pg_ctl stop", stop)
        recorded = server.finish(60)
        context.expect(recorded.status == 0, "record", recorded)
        context.expect_same("replay", recorded, context.replay(recording, timeout=120, user=somebody()))
        context.expect_same("second replay", recorded, context.replay(recording, timeout=120, user=somebody()))
        shutil.rmtree(recording)
