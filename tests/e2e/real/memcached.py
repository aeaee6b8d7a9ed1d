"""memcached with four worker threads under a loopback load."""

SCRIPT = """
memcached -l 127.0.0.1 -p $PORT -U 0 -t 4 -m 16 -u $(id -un) &
server=$!
until (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null; do kill -0 $server || exit 9; sleep 0.02; done
"$CLIENT" $PORT 6 150
"$CLIENT" $PORT 3 50
kill -TERM $server
wait $server
echo "memcached: $?"
"""


def test_memcached(context):
    """memcached -t 4 with clients of several threads."""
    context.need("memcached")
    client = context.program("memcached_client")
    context.exact(lambda: ["bash", "-c", f"PORT={context.free_port()}\nCLIENT={client}\n{SCRIPT}"], status=0, timeout=60)
