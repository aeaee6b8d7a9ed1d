// kv: a key-value store of two replicas and two clients, four processes, that sometimes loses an update.
//
// p1 starts the others; p2 and p3 are the replicas; p1 and p4 are the clients. A client puts a value into one
// replica, when that has it into the other, and then tells both that it is done: only then may the value be
// read. Client 1 sets v to 1. Client 2 reads v from replica 2, which answers as soon as it can be read, and
// sets v + 1. At the end v should be 2 in both replicas. Mostly it is.
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kClients = 2, kReplicas = 2 };

enum What { kPut, kDone, kGet, kAnswer };

struct Message {
  enum What what;
  int value;
};

static void fail(const char* what) {
  perror(what);
  exit(2);
}

static void send_message(int to, enum What what, int value) {
  struct Message message = {what, value};
  if (send(to, &message, sizeof message, 0) != sizeof message) fail("send");
}

// ---- A replica.

int v;                   // the value of the key
static int readable;     // whether both replicas have it
static int reader = -1;  // a client who waits for it

// Does what a client asks for. 0: the client is gone.
static int serve_request(int client) {
  struct Message request;
  if (recv(client, &request, sizeof request, MSG_WAITALL) != sizeof request) return 0;
  if (request.what == kPut) {
    readable = 1;
    v = request.value;
    send_message(client, kAnswer, v);
  } else if (request.what == kDone) {
    readable = 1;
    send_message(client, kAnswer, v);
  } else {
    reader = client;
  }
  if (readable && reader >= 0) {
    send_message(reader, kAnswer, v);
    reader = -1;
  }
  return 1;
}

static void serve(int listener) {
  struct pollfd clients[kClients];
  for (int i = 0; i < kClients; i++) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) fail("accept");
    clients[i] = (struct pollfd){fd, POLLIN, 0};
  }
  for (int open = kClients; open > 0;) {
    if (poll(clients, kClients, -1) < 0) fail("poll");
    for (int i = 0; i < kClients; i++) {
      if (clients[i].revents == 0) continue;
      if (serve_request(clients[i].fd)) continue;
      close(clients[i].fd);
      clients[i].fd = -1;
      open--;
    }
  }
  exit(0);
}

// ---- A client.

static int ask(int replica, enum What what, int value) {
  struct Message answer;
  send_message(replica, what, value);
  if (recv(replica, &answer, sizeof answer, MSG_WAITALL) != sizeof answer) fail("recv");
  return answer.value;
}

static void put_both(int first, int second, int value) {
  ask(first, kPut, value);
  ask(second, kPut, value);
  ask(first, kDone, 0);
  ask(second, kDone, 0);
}

static void connect_to(const struct sockaddr_in addresses[kReplicas], int replicas[kReplicas]) {
  for (int i = 0; i < kReplicas; i++) {
    replicas[i] = socket(AF_INET, SOCK_STREAM, 0);
    if (replicas[i] < 0 ||
        connect(replicas[i], (const struct sockaddr*)&addresses[i], sizeof addresses[i]) != 0)
      fail("connect");
  }
}

static void increment(int replicas[kReplicas]) {
  int now = ask(replicas[1], kGet, 0);
  put_both(replicas[0], replicas[1], now + 1);
  exit(0);
}

// ---- All of it.

static int listen_at(struct sockaddr_in* address) {
  socklen_t size = sizeof *address;
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr*)address, size) != 0 ||
      listen(listener, kClients) != 0 || getsockname(listener, (struct sockaddr*)address, &size) != 0)
    fail("listen");
  return listener;
}

static pid_t start(void) {
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  return pid;
}

int main(void) {
  struct sockaddr_in addresses[kReplicas];
  int listeners[kReplicas], replicas[kReplicas];
  for (int i = 0; i < kReplicas; i++) listeners[i] = listen_at(&addresses[i]);
  for (int i = 0; i < kReplicas; i++)
    if (start() == 0) serve(listeners[i]);
  pid_t client2 = start();
  connect_to(addresses, replicas);
  if (client2 == 0) increment(replicas);

  put_both(replicas[1], replicas[0], 1);
  waitpid(client2, NULL, 0);
  int v1 = ask(replicas[0], kGet, 0), v2 = ask(replicas[1], kGet, 0);
  for (int i = 0; i < kReplicas; i++) close(replicas[i]);
  while (wait(NULL) > 0) {
  }
  if (v1 != v2) {
    printf("lost update: replica 1 has v=%d, replica 2 has v=%d\n", v1, v2);
    return 1;
  }
  printf("v=%d\n", v1);
  return 0;
}
