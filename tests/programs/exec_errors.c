// exec that fails: the program goes on where it was, with its descriptors and handlers.
// e2e: stable
#include "common.h"

static volatile sig_atomic_t hits;
static void count(int sig) { hits += sig == SIGUSR1; }

int main(void) {
  on_signal_flags(SIGUSR1, count, 0);
  char* argv[] = {"x", NULL};
  CHECK(execv("./missing", argv) < 0);
  say("missing: %s\n", strerror(errno));
  write_file("plain", "text\n", 0644);
  CHECK(execv("./plain", argv) < 0);
  say("not executable: %s\n", strerror(errno));
  write_file("garbage", "\x01\x02\x03\x04 no program", 0755);
  CHECK(execv("./garbage", argv) < 0);
  say("no format: %s\n", strerror(errno));
  write_file("bad_script", "#!/nonexistent/interpreter\n", 0755);
  CHECK(execv("./bad_script", argv) < 0);
  say("no interpreter: %s\n", strerror(errno));
  CHECK(execv(".", argv) < 0);
  say("directory: %s\n", strerror(errno));
  raise(SIGUSR1);
  say("handler still there: %d\n", (int)hits);
  return 0;
}
