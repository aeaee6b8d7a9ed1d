// abort: a failed assertion with its message, SIGABRT as the status.
// e2e: stable exit=SIGABRT
#include "common.h"

static void on_abort(int sig) { say("in the handler of %s\n", strsignal(sig)); }

int main(void) {
  on_signal_flags(SIGABRT, on_abort, 0);
  dprintf(2, "about to abort\n");
  abort();
}
