"""nginx: a master and two workers that share memory, serving four curls."""
import os

CONFIG = """
{user}
daemon off;
worker_processes 2;
pid nginx.pid;
error_log error.log notice;
events {{ worker_connections 64; }}
http {{
  access_log access.log;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  sendfile on;
  gzip on; gzip_min_length 100; gzip_types text/plain;
  limit_req_zone $binary_remote_addr zone=all:32k rate=1000r/s;
  server {{
    listen 127.0.0.1:{port};
    root html;
    location /limited {{ limit_req zone=all burst=50; alias html/small.txt; }}
  }}
}}
"""

SCRIPT = """
nginx -p "$PWD" -e error.log -c nginx.conf &
server=$!
until (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null; do kill -0 $server || exit 9; sleep 0.02; done
curl -s http://127.0.0.1:$PORT/small.txt -o out1 & c1=$!
curl -s http://127.0.0.1:$PORT/large.bin -o out2 & c2=$!
curl -s --compressed http://127.0.0.1:$PORT/text.txt -o out3 & c3=$!
curl -s -D headers http://127.0.0.1:$PORT/missing http://127.0.0.1:$PORT/limited -o /dev/null -o out4 & c4=$!
wait $c1 $c2 $c3 $c4
cksum out1 out2 out3 out4
cat headers
kill -QUIT $(cat nginx.pid)
wait
echo "nginx: $?"
cut -d' ' -f6- access.log
"""


def site(context):
    port = context.free_port()
    context.write("nginx.conf", CONFIG.format(port=port, user="user nobody nogroup;" if os.geteuid() == 0 else ""))
    context.write("html/small.txt", "small\n")
    context.write("html/text.txt", "a line that compresses well\n" * 500)
    context.write("html/large.bin", "".join(chr(33 + n * n % 90) for n in range(300000)))
    return ["bash", "-c", f"PORT={port}\n{SCRIPT}"]


def test_nginx(context):
    """nginx master and two workers serving four curls."""
    context.need("nginx", "curl")
    context.exact(lambda: site(context), status=0, timeout=60)
