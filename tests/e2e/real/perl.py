"""perl: forks, pipes, sockets, hashes in their random order."""

PROGRAM = r'''
use strict; use warnings; use IO::Socket::INET; use POSIX ":sys_wait_h"; use Time::HiRes qw(time sleep);
$| = 1;
my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die;
my @children;
for my $n (0 .. 3) {
  my $pid = fork;
  if (!$pid) {
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $server->sockport) or die;
    print $s "client $n\n"; $s->flush;
    print "client $n got: ", scalar <$s>;
    exit $n;
  }
  push @children, $pid;
}
for my $k (0 .. 3) {
  my $c = $server->accept; my $line = <$c>; chomp $line;
  print $c "$line is number $k\n"; close $c;
}
print "status ", (waitpid($_, 0) == $_ ? $? >> 8 : "?"), "\n" for @children;
my %h = map { ($_ => $_ ** 2) } 1 .. 30;
print join(" ", keys %h), "\n";
open my $p, "-|", "echo from a pipe; exit 3" or die; print <$p>; close $p; print "pipe ", $? >> 8, "\n";
local $SIG{ALRM} = sub { die "alarm\n" }; eval { Time::HiRes::alarm(0.02); 1 while 1; }; print "caught $@";
print time, " ", rand, " $$\n";
'''


def test_perl(context):
    """Forked clients and a server, hash order, a pipe, an alarm out of a loop without calls."""
    context.need("perl")
    context.exact(["perl", "program.pl"], prepare=lambda: context.write("program.pl", PROGRAM), status=0)
