// A Unix stream server in the abstract namespace, with a client that is bound as well, and who the peer is.
// e2e: stable
#include "net.h"

int main(void) {
  char server_name[40], client_name[60];
  snprintf(server_name, sizeof server_name, "@pastcone-test-%d", getpid());
  snprintf(client_name, sizeof client_name, "%s-client", server_name);
  struct Address name = unix_name(server_name);
  int listener = listening(SOCK_STREAM, name);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = bound(SOCK_STREAM, unix_name(client_name));
    CHECK(connect(fd, addr(&name), name.size) == 0);
    write_all(fd, "hello", 5);
    char text[20] = "";
    read_all(fd, text, sizeof text - 1);
    say("client got: %s\n", text);
    _exit(0);
  }
  struct Address peer = {.size = sizeof peer.storage};
  int fd = accept4(listener, addr(&peer), &peer.size, SOCK_CLOEXEC);
  CHECK(fd >= 0);
  struct Address expected = unix_name(client_name);
  say("peer's name as bound: %d\n",
      peer.size == expected.size && memcmp(&peer.storage, &expected.storage, peer.size) == 0);
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0);
  say("peer's pid is the child's: %d, uid mine: %d\n", credentials.pid == pid, credentials.uid == getuid());
  char text[20] = "";
  CHECK(read_all(fd, text, 5) == 5);
  dprintf(fd, "%s yourself", text);
  close(fd);
  return exit_status(pid);
}
