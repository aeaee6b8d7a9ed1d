"""openssl: a TLS server and clients."""
import subprocess

SCRIPT = """
openssl s_server -accept 127.0.0.1:$PORT -cert cert.pem -key key.pem -naccept 3 -rev -quiet &
server=$!
until (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null; do kill -0 $server || exit 9; sleep 0.02; done
for i in 1 2; do
  printf 'hello number %d\\nCLOSE\\n' $i | openssl s_client -connect 127.0.0.1:$PORT -quiet -CAfile cert.pem 2>client$i.log
done
wait
echo "server: $?"
openssl rand -hex 8
"""


def certificate(context):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost"],
                   cwd=context.work, check=True, capture_output=True)


def test_openssl(context):
    """openssl s_server with two s_clients, then random bytes."""
    context.need("openssl")
    context.exact(lambda: ["bash", "-c", f"PORT={context.free_port()}\n{SCRIPT}"], prepare=lambda: certificate(context),
                  status=0, timeout=60)


def test_openssl_speed(context):
    """openssl speed: an alarm ends a loop that makes no call."""
    context.need("openssl")
    context.exact(["bash", "-c", "openssl speed -seconds 1 -bytes 1024 sha256 2>/dev/null | tail -n 1 | cut -c1-6"],
                  stable=True, status=0, soak=3)
