"""Global predicates over real programs without debug information: what they export is looked at by address."""
import json
import os
import re
import shutil

from debugging import stand
from found_members import dynamic_symbol, member, words_of

# nginx: connections that a worker has free, a member of the structure that the global ngx_cycle points to. 64 less the listener and the channel from
# the master are free when it has none; while the process starts there is no such structure yet, or another one.
FREE = "*(long*)((long)ngx_cycle + 128)"
IDLE = 62

NGINX = """
daemon off;
{user}
worker_processes 2;
pid nginx.pid;
error_log error.log notice;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {{ listen 127.0.0.1:{port} reuseport; root html; add_header Worker $pid; }}
}}
"""

# First connections that come and go one after the other: each worker has one at times, but never both at once. Then some that stay,
# until both have one: what was true of a worker before is not true any more when the other one comes.
CLIENT = r"""
nginx -p "$PWD" -e error.log -c nginx.conf &
until (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null; do sleep 0.02; done
ask() {
  exec {fd}<>/dev/tcp/127.0.0.1/$PORT
  printf 'GET /small.txt HTTP/1.1\r\nHost: here\r\nConnection: %s\r\n\r\n' "$1" >&$fd
  while read -r -u $fd name value && [ "$name" != $'\r' ]; do
    [ "$name" = Worker: ] && worker=${value%$'\r'}
  done
}
for i in 1 2 3 4 5 6 7 8; do
  ask close
  while read -r -u $fd line; do :; done
  exec {fd}>&-
done
first=
for i in $(seq 40); do
  ask keep-alive
  first=${first:-$worker}
  [ $worker != $first ] && echo "$first $worker" && break
done
kill -QUIT $(cat nginx.pid)
wait
"""


def record_nginx(context):
    """Two workers that each hold a connection in the end; the recording, and their names."""
    context.need("nginx", "bash")
    port = context.free_port()
    context.write("nginx.conf", NGINX.format(port=port, user="user nobody nogroup;" if os.geteuid() == 0 else ""))
    context.write("html/small.txt", "small\n")
    recording = context.path("nginx")
    recorded = context.record(recording, ["bash", "-c", f"PORT={port}\n{CLIENT}"])
    pids = [int(word) for word in recorded.stdout.split()]
    context.expect(recorded.status == 0 and len(pids) == 2, "both workers should have had a connection", recorded)
    return recording, names_of(context, recording, pids)


def names_of(context, recording, pids):
    listed = json.loads(context.run([context.pastcone, "ps", recording, "--json"], label="ps").stdout)
    return [next(process["process"] for process in listed if process["pid"] == pid) for pid in pids]


def same_stop(context, recording, predicate, looks, rounds):
    """The values of one expression for each process at the stop, the same in all rounds; and so are the places of all processes."""
    seen = []
    for _ in range(rounds):
        found, text = {}, ""
        for process, expression in looks:
            values, text = stand(context, recording, [f"stop if {predicate}", "continue"], [process], [expression], label=predicate)
            found.update({process: values[process][expression]})
        seen.append((found, re.sub(r"\$\d+ = .*", "", text)))
        context.expect(seen[-1] == seen[0], f"{predicate}: another stop: {seen[-1]} instead of {seen[0]}")
    return seen[0][0]


def test_debug_nginx_workers(context):
    """nginx: the first moment at which two workers hold a connection at once."""
    recording, workers = record_nginx(context)
    predicate = " && ".join(f"{worker}: {FREE} > 32 && {worker}: {FREE} < {IDLE}" for worker in workers)
    found = same_stop(context, recording, predicate, [(worker, FREE) for worker in workers], context.rounds(2, 20))
    context.expect(all(32 < free < IDLE for free in found.values()), f"one worker holds no connection: {found}")
    context.expect(IDLE - 1 in found.values(), f"the second one must have its first connection just now: {found}")


# redis: server.master_repl_offset, which a replica keeps as well.
REDIS = r"""
start() { mkdir -p $1; redis-server --port $1 --dir $1 --save '' --repl-diskless-sync-delay 0 > $1/log 2>&1 & }
ready() { until redis-cli -p $1 ping 2>/dev/null | grep -q PONG; do sleep 0.02; done; }
field() { redis-cli -p $1 info $2 | tr -d '\r' | sed -n "s/^$3://p"; }
follow() { redis-cli -p $1 replicaof 127.0.0.1 $P0 > /dev/null; until [ "$(field $1 replication master_link_status)" = up ]; do sleep 0.02; done; }
write() { { for i in $(seq $1); do echo "set key$i $RANDOM"; done; echo "wait 2 0"; } | redis-cli -p $P0 > /dev/null; }
for port in $P0 $P1 $P2 $P3; do start $port; done
for port in $P0 $P1 $P2 $P3; do ready $port; done
follow $P1; follow $P2
write 5
echo "offset $(field $P1 replication slave_repl_offset)"
write 7
echo "offset $(field $P2 replication slave_repl_offset)"
follow $P3
write 3
for port in $P0 $P1 $P2 $P3; do echo "pid $(field $port server process_id)"; done
for port in $P3 $P2 $P1 $P0; do redis-cli -p $port shutdown nosave; done
wait
"""


def offset_member(context):
    """Where master_repl_offset lies in `server`: a master with a replica says what it is, twice."""
    program = shutil.which("redis-server", path=context.env["PATH"])
    address, size = dynamic_symbol(program, "server")
    ports, samples = [context.free_port() for _ in range(2)], []
    servers = [context.start([program, "--port", str(port), "--save", ""], label="probe") for port in ports]

    def ask(port, *words):
        return context.run(["redis-cli", "-p", str(port), *words], label="redis-cli").stdout.decode()

    def until(port, text, *words):
        while text not in ask(port, *words):
            context.expect(all(server.process.poll() is None for server in servers), "a redis to look at did not start")

    for port in ports:
        until(port, "PONG", "ping")
    ask(ports[1], "replicaof", "127.0.0.1", str(ports[0]))
    until(ports[1], "master_link_status:up", "info", "replication")
    for count in (3, 5):
        for number in range(count):
            ask(ports[0], "set", f"key{number}", "value")
        value = int(re.search(r"master_repl_offset:(\d+)", ask(ports[0], "info", "replication"))[1])
        samples.append((words_of(servers[0].process.pid, address, size), value))
    for port in reversed(ports):
        ask(port, "shutdown", "nosave")
    for server in servers:
        server.finish()
    return member(samples)


def record_redis(context):
    """The recording; the replicas' names, the third last; an offset of the first and a later one of the second."""
    ports = "\n".join(f"P{number}={context.free_port()}" for number in range(4))
    recording = context.path("redis")
    recorded = context.record(recording, ["bash", "-c", f"{ports}\n{REDIS}"], timeout=120)
    context.expect(recorded.status == 0, "recording", recorded)
    said = [line.split() for line in recorded.stdout.decode().splitlines() if line.startswith(("offset", "pid"))]
    offsets = [int(value) for what, value in said if what == "offset"]
    names = names_of(context, recording, [int(value) for what, value in said if what == "pid"])
    return recording, names[1:], offsets


def test_debug_redis_replicas(context):
    """redis: two replicas at given replication offsets while a third has not connected."""
    context.need("redis-server", "redis-cli", "bash", "nm")
    expression = f"*(long*)((char*)&server + {offset_member(context)})"
    recording, (first, second, third), (early, late) = record_redis(context)
    context.expect(early < late, f"offsets {early} and {late}")
    predicate = f"{first}: {expression} == {early} && {second}: {expression} == {late} && {third}: {expression} == 0"
    looks = [(process, expression) for process in (first, second, third)]
    found = same_stop(context, recording, predicate, looks, context.rounds(2, 20))
    context.expect(found == {first: early, second: late, third: 0}, f"offsets at the stop: {found}")
