// Descriptors passed along a Unix socket: a pipe end, a TCP connection and a file, used by the receiver.
// e2e: stable
#include "net.h"

static void send_fds(int socket, const int* fds, size_t count) {
  char byte = 'f', control[CMSG_SPACE(sizeof(int) * 3)];
  memset(control, 0, sizeof control);
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = CMSG_SPACE(sizeof(int) * count)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * count);
  memcpy(CMSG_DATA(header), fds, sizeof(int) * count);
  CHECK(sendmsg(socket, &message, 0) == 1);
}

static size_t receive_fds(int socket, int* fds) {
  char byte, control[CMSG_SPACE(sizeof(int) * 3)];
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  CHECK(header != NULL && header->cmsg_type == SCM_RIGHTS);
  size_t size = header->cmsg_len - CMSG_LEN(0);
  memcpy(fds, CMSG_DATA(header), size);
  return size / sizeof(int);
}

int main(void) {
  int s[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(s[0]);
    int fds[3];
    CHECK(receive_fds(s[1], fds) == 3);
    char text[40] = "";
    read_all(fds[2], text, sizeof text - 1);
    dprintf(fds[0], "into the pipe: %s", text);
    dprintf(fds[1], "into the connection: %s", text);
    _exit(0);
  }
  close(s[1]);
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0)), ends[2];
  int near = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener))), far = accepted(listener);
  CHECK(pipe(ends) == 0);
  write_file("contents", "what the file holds", 0600);
  int fds[3] = {ends[1], far, open("contents", O_RDONLY)};
  send_fds(s[0], fds, 3);
  for (int i = 0; i < 3; i++) close(fds[i]);
  char text[100] = "";
  read_all(ends[0], text, sizeof text - 1);
  say("%s\n", text);
  memset(text, 0, sizeof text);
  read_all(near, text, sizeof text - 1);
  say("%s\n", text);
  return exit_status(pid);
}
