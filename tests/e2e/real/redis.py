"""redis-server with redis-cli and redis-benchmark, all under one recorded script."""

SCRIPT = """
redis-server --port $PORT --dir . {options} > server.log 2>&1 &
server=$!
until redis-cli -p $PORT ping 2>/dev/null | grep -q PONG; do kill -0 $server || exit 9; sleep 0.02; done
redis-cli -p $PORT set greeting hello
redis-cli -p $PORT incrby counter 41
redis-benchmark -p $PORT -n {requests} -c 20 -t set,get,incr,lpush,lrange_100 -r 100 -q
redis-benchmark -p $PORT -n {requests} -c 5 -P 16 -t set,get -q
{extra}
redis-cli -p $PORT dbsize
redis-cli -p $PORT info stats | grep total_commands
redis-cli -p $PORT shutdown nosave
wait
echo "server: $?"
"""

SAVE = """
redis-cli -p $PORT bgsave
until redis-cli -p $PORT info persistence | grep -q rdb_bgsave_in_progress:0; do sleep 0.02; done
redis-cli -p $PORT bgrewriteaof
until redis-cli -p $PORT info persistence | grep -q aof_rewrite_in_progress:0; do sleep 0.02; done
redis-cli -p $PORT mset a 1 b 2 c 3
redis-cli -p $PORT debug digest
"""


def redis_script(options="", requests=1000, extra=""):
    return SCRIPT.format(options=options, requests=requests, extra=extra)


def run(context, script):
    context.need("redis-server", "redis-cli", "redis-benchmark")
    context.exact(lambda: ["bash", "-c", f"PORT={context.free_port()}\n{script}"], status=0, timeout=90)


def test_redis_default(context):
    """redis with its default configuration."""
    run(context, redis_script())


def test_redis_aof_bgsave(context):
    """redis with an append-only file, a background save and a rewrite."""
    run(context, redis_script(options="--appendonly yes --enable-debug-command local", extra=SAVE))
