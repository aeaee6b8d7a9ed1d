// Users, groups, hosts and services by name, through libc's switch.
// e2e: stable
#include <grp.h>
#include <netdb.h>
#include <pwd.h>

#include "net.h"

int main(void) {
  struct passwd* user = getpwnam("root");
  CHECK(user != NULL);
  say("root: %u, %s\n", user->pw_uid, user->pw_dir);
  user = getpwuid(65534);
  say("65534: %s\n", user != NULL ? user->pw_name : "nobody knows");
  struct group* group = getgrgid(0);
  say("group 0: %s\n", group != NULL ? group->gr_name : "none");
  CHECK(getpwnam("no-such-user-here") == NULL);
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
  int error = getaddrinfo("localhost", "80", &hints, &found);
  if (error != 0) say("localhost: %s\n", gai_strerror(error));  // a system without /etc/hosts
  char ip[INET6_ADDRSTRLEN];
  for (struct addrinfo* a = found; a != NULL; a = a->ai_next)
    say("localhost: %s port %d\n",
        inet_ntop(AF_INET, &((struct sockaddr_in*)a->ai_addr)->sin_addr, ip, sizeof ip),
        ntohs(((struct sockaddr_in*)a->ai_addr)->sin_port));
  if (found != NULL) freeaddrinfo(found);
  struct servent* service = getservbyname("http", "tcp");
  say("http: %d\n", service != NULL ? ntohs((uint16_t)service->s_port) : 0);
  return 0;
}
