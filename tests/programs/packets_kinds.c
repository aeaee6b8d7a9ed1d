// What message sockets can do: peeking, truncation, empty messages, lists, descriptors, a full queue, the end.
// e2e: varies
#include <poll.h>
#include <sys/uio.h>

#include "net.h"

static void show(const char* what, ssize_t n, const char* text, size_t room) {
  size_t size = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
  say("%s: %zd %08x%s%s\n", what, n, hash_bytes(HASH_START, text, size), n < 0 ? " " : "", n < 0 ? strerror(errno) : "");
}

static void send_fd(int socket, int fd, const char* text) {
  char control[CMSG_SPACE(sizeof fd)];
  memset(control, 0, sizeof control);
  struct iovec part = {(void*)text, strlen(text)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  CHECK(sendmsg(socket, &message, 0) == (ssize_t)strlen(text));
}

static int receive_fd(int socket, char* text, size_t room) {
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {text, room};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  CHECK(n > 0 && header != NULL && header->cmsg_type == SCM_RIGHTS);
  say("with a descriptor: %.*s%s\n", (int)n, text, message.msg_flags & MSG_TRUNC ? ", truncated" : "");
  int fd;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

static void child(int fd) {
  char text[5000];
  fill_random(text, sizeof text, 1);
  for (int i = 0; i < 4; i++) CHECK(send(fd, text, 4000 + (size_t)i, 0) == 4000 + i);
  CHECK(write(fd, "", 0) == 0);
  CHECK(send(fd, "after the empty one", 19, 0) == 19);
  struct mmsghdr list[5];
  struct iovec parts[5];
  memset(list, 0, sizeof list);
  for (int i = 0; i < 5; i++) {
    parts[i] = (struct iovec){text + i * 100, (size_t)(10 + i)};
    list[i].msg_hdr.msg_iov = &parts[i];
    list[i].msg_hdr.msg_iovlen = 1;
  }
  int sent = sendmmsg(fd, list, 5, 0);
  say("sendmmsg: %d, the last with %u\n", sent, list[4].msg_len);
  int ends[2], inner[2];
  CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, inner) == 0);
  send_fd(fd, ends[1], "a pipe");
  send_fd(fd, inner[1], "a socket, and a text that is too long");
  char byte[40] = "";
  close(ends[1]);
  close(inner[1]);
  read_all(ends[0], byte, sizeof byte);
  say("by pipe: %s\n", byte);
  CHECK(recv(inner[0], byte, sizeof byte, 0) > 0);
  say("by socket: %s\n", byte);
  _exit(0);
}

static void run(int type, const char* name) {
  say("-- %s\n", name);
  int s[2];
  CHECK(socketpair(AF_UNIX, type, 0, s) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(s[0]);
    child(s[1]);
  }
  close(s[1]);
  char text[5000];
  show("peeked a little", recv(s[0], text, 10, MSG_PEEK), text, 10);
  show("peeked all", recv(s[0], text, sizeof text, MSG_PEEK), text, sizeof text);
  show("its length", recv(s[0], text, 0, MSG_PEEK | MSG_TRUNC), text, 0);
  show("all", recv(s[0], text, sizeof text, 0), text, sizeof text);
  show("cut", recv(s[0], text, 100, 0), text, 100);
  show("cut, with its length", recv(s[0], text, 100, MSG_TRUNC), text, 100);
  show("read", read(s[0], text, sizeof text), text, sizeof text);
  show("empty", recv(s[0], text, sizeof text, 0), text, sizeof text);
  show("nothing wanted", read(s[0], text, 0), text, 0);
  show("after it", recv(s[0], text, sizeof text, 0), text, sizeof text);
  struct mmsghdr list[5];
  struct iovec parts[5];
  memset(list, 0, sizeof list);
  for (int i = 0; i < 5; i++) {
    parts[i] = (struct iovec){text + i * 100, i == 2 ? 5 : 100};
    list[i].msg_hdr.msg_iov = &parts[i];
    list[i].msg_hdr.msg_iovlen = 1;
  }
  CHECK(recvmmsg(s[0], list, 5, 0, NULL) == 5);
  for (int i = 0; i < 5; i++)
    say("recvmmsg %d: %u %08x %s\n", i, list[i].msg_len, hash_bytes(HASH_START, text + i * 100, list[i].msg_len),
        list[i].msg_hdr.msg_flags & MSG_TRUNC ? "cut" : "");
  int pipe_end = receive_fd(s[0], text, sizeof text), socket_end = receive_fd(s[0], text, 12);
  write_all(pipe_end, "hello, pipe", 11);
  close(pipe_end);
  CHECK(send(socket_end, "hello, socket", 14, 0) == 14);
  CHECK(exit_status(pid) == 0);
  if (type == SOCK_SEQPACKET) show("the end", recv(s[0], text, sizeof text, 0), text, sizeof text);
  close(s[0]);

  CHECK(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, s) == 0);
  show("too early", recv(s[0], text, sizeof text, 0), text, sizeof text);
  int sent = 0;
  while (send(s[1], text, 500, 0) == 500) sent++;
  say("full: %d\n", errno == EAGAIN);
  struct pollfd ready = {s[0], POLLIN, 0};
  CHECK(poll(&ready, 1, -1) == 1);
  for (; sent > 0; sent--) CHECK(recv(s[0], text, sizeof text, 0) == 500);
  show("empty again", recv(s[0], text, sizeof text, 0), text, sizeof text);
}

int main(void) {
  run(SOCK_DGRAM, "dgram");
  run(SOCK_SEQPACKET, "seqpacket");
  return 0;
}
