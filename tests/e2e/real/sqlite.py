"""sqlite3 in WAL mode: its index is memory shared by the processes that have the database open."""

SCRIPT = """
sqlite3 data.db 'pragma journal_mode=wal; create table log(id integer primary key, who text, n int);'
writer() {
  for i in $(seq 1 100); do echo "insert into log(who, n) values('$1', $i);"; done | sqlite3 -cmd '.timeout 30000' data.db
}
writer a & writer b &
sqlite3 -cmd '.timeout 30000' data.db 'select count(*) >= 0 from log;'
wait
sqlite3 data.db "select who, count(*), sum(n) from log group by who; select group_concat(who, '') from log;
  pragma integrity_check; pragma wal_checkpoint(truncate);"
"""


def test_sqlite_wal(context):
    """Two writers and a reader at once on one database in WAL mode."""
    context.need("sqlite3")
    context.exact(["bash", "-c", SCRIPT], status=0, timeout=60)
