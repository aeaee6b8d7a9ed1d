// Standard output and error, passed along sockets to a process that has none: to write to, to pass on, to copy.
// e2e: stable
#include <sys/socket.h>

#include "common.h"

enum { kMost = 4 };

typedef struct {
  char byte, control[CMSG_SPACE(sizeof(int) * kMost)];
  struct iovec part;
} Room;

static void prepare(struct msghdr* message, Room* room, const int* fds, size_t count) {
  memset(room, 0, sizeof *room);
  room->part = (struct iovec){&room->byte, 1};
  *message = (struct msghdr){.msg_iov = &room->part, .msg_iovlen = 1, .msg_control = room->control,
                             .msg_controllen = count ? CMSG_SPACE(sizeof(int) * count) : sizeof room->control};
  if (!count) return;
  struct cmsghdr* header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * count);
  memcpy(CMSG_DATA(header), fds, sizeof(int) * count);
}

static void pass(int socket, const int* fds, size_t count) {
  struct msghdr message;
  Room room;
  prepare(&message, &room, fds, count);
  CHECK(sendmsg(socket, &message, 0) == 1);
}

static void take(int socket, int* fds, size_t count) {
  struct msghdr message;
  Room room;
  prepare(&message, &room, NULL, 0);
  CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  CHECK(header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int) * count));
  memcpy(fds, CMSG_DATA(header), sizeof(int) * count);
}

static void write_to(int fd, const char* text) { write_all(fd, text, strlen(text)); }

// With no output of its own, but what comes through `socket`.
static void use_passed(int socket, int next) {
  int fds[3], more, file = open("/dev/null", O_WRONLY);
  close(1);
  close(2);
  take(socket, fds, 3);
  write_to(fds[0], "not to be seen\n");
  write_to(fds[1], "to the output that was passed\n");
  write_to(fds[2], "to the error output that was passed\n");
  CHECK(dup2(fds[1], 40) == 40);
  write_to(40, "to a copy of it\n");
  pass(next, (int[]){file, 40}, 2);
  take(socket, &more, 1);
  write_to(more, "passed alone\n");
  _exit(0);
}

static void use_passed_on(int socket) {
  int fds[2];
  close(1);
  close(2);
  take(socket, fds, 2);
  write_to(fds[1], "passed on\n");
  _exit(0);
}

static void run(const char* what, int type) {
  int first[2], second[2], null = open("/dev/null", O_WRONLY);
  say("%s\n", what);
  CHECK(socketpair(AF_UNIX, type, 0, first) == 0 && socketpair(AF_UNIX, type, 0, second) == 0);
  pid_t one = fork_checked();
  if (one == 0) use_passed(first[1], second[0]);
  pass(first[0], (int[]){null, 1, 2}, 3);
  pid_t other = fork_checked();
  if (other == 0) use_passed_on(second[1]);
  CHECK(exit_status(other) == 0);
  pass(first[0], (int[]){1}, 1);
  CHECK(exit_status(one) == 0);
}

int main(void) {
  run("stream", SOCK_STREAM);
  run("datagrams", SOCK_DGRAM);
  run("packets", SOCK_SEQPACKET);
  return 0;
}
