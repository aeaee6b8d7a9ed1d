// Memory that a child of fork gets wiped (MADV_WIPEONFORK), or does not get (MADV_DONTFORK), and neither again.
// e2e: stable
#include <sys/mman.h>

#include "common.h"

enum { kWiped, kWipedAgain, kKept, kAbsent, kBack, kPlain, kPages };
enum { kSize = 4096 };

static volatile sig_atomic_t faults;
static char* pages;

static void map_again(int sig) {
  (void)sig;
  faults++;
  char* page = pages + kAbsent * kSize;
  if (mmap(page, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page) _exit(99);
}

static void advise(int page, int advice) { CHECK(madvise(pages + page * kSize, kSize, advice) == 0); }

static void show(const char* who) {
  say("%s:", who);
  for (int i = 0; i < kPages; i++) say(" %d", pages[i * kSize]);
  say(", faults %d\n", (int)faults);
}

static void grandchild(void) {
  pages[kWiped * kSize] = 70;
  pid_t pid = fork_checked();
  if (pid == 0) {
    show("grandchild");
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
}

int main(void) {
  pages = mmap(NULL, kPages * kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  for (int i = 0; i < kPages; i++) pages[i * kSize] = (char)(i + 1);
  advise(kWiped, MADV_WIPEONFORK);
  advise(kWipedAgain, MADV_WIPEONFORK);
  advise(kKept, MADV_WIPEONFORK);
  advise(kKept, MADV_KEEPONFORK);
  advise(kAbsent, MADV_DONTFORK);
  advise(kBack, MADV_DONTFORK);
  advise(kBack, MADV_DOFORK);
  pid_t pid = fork_checked();
  if (pid == 0) {
    on_signal_flags(SIGSEGV, map_again, 0);
    show("child");
    grandchild();
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  pid = fork_checked();
  if (pid == 0) {
    pages[kAbsent * kSize]++;
    _exit(0);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid);
  say("another child: %s\n", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "lives");
  show("parent");
  return 0;
}
