// Without a terminal: isatty, TIOCGWINSZ, tcgetattr, ttyname all say so.
// e2e: stable
#include <sys/ioctl.h>
#include <termios.h>

#include "common.h"

int main(void) {
  for (int fd = 0; fd < 3; fd++) {
    struct winsize size;
    struct termios settings;
    say("%d: isatty %d, window %s", fd, isatty(fd),
        ioctl(fd, TIOCGWINSZ, &size) < 0 ? strerror(errno) : "size");
    say(", settings %s, name %s\n", tcgetattr(fd, &settings) < 0 ? strerror(errno) : "there",
        ttyname(fd) == NULL ? "none" : "one");
  }
  return 0;
}
