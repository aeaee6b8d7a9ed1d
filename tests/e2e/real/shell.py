"""Shells and the small tools they start."""

PIPELINE = """
seq 1 3000 | awk '{ print $1 * 7919 % 3001, $1 }' | sort -n | grep -v '^1[0-9] ' | sed 's/ /:/' | tr 0-4 a-e \\
  | cut -d: -f2 | uniq | tail -n 2500 | md5sum
echo "statuses: ${PIPESTATUS[*]}"
"""

SCRIPT = """
work() { for i in 1 2 3; do echo "job $1 step $i"; sleep 0.0$1; done; }
work 1 & work 2 & work 3 &
wait
trap 'echo trapped' USR1
kill -USR1 $$
while read -r line; do echo "read: $line"; done < <(printf 'a\\nb\\nc\\n')
cat <<END
here document from $BASHPID, random $RANDOM, seconds $SECONDS
END
for i in $(seq 20); do /bin/true; done
(exit 3); echo "subshell: $?"
mkfifo pipe; (echo through a fifo > pipe) & cat pipe; wait
yes | head -n 2
date +%s.%N
ls -la --time-style=full-iso
exit 5
"""


def test_bash_pipeline(context):
    """A bash pipeline of ten commands."""
    context.exact(["bash", "-c", PIPELINE], stable=True, status=0)


def test_bash_script(context):
    """Background jobs, traps, substitution, here documents, a FIFO, the time."""
    context.exact(["bash", "-c", SCRIPT], status=5)


def test_true_loop(context):
    """A loop that starts a hundred programs."""
    context.exact(["sh", "-c", "for i in $(seq 100); do /bin/true; done; echo done"], stable=True, status=0)


def test_find_tar_gzip(context):
    """tar, gzip, find and cmp over a tree that is made on the way."""
    context.exact(["bash", "-c", "mkdir -p a/b/c && for i in $(seq 40); do seq $i > a/b/$i; done && tar cz a > a.tgz && "
                   "mkdir x && tar xzf a.tgz -C x && diff -r a x/a && find x -type f | sort | xargs cat | sha256sum"],
                  stable=True, status=0)
