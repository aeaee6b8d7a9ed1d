// Two hundred processes at once, each sending its number; their order of arrival is shown.
// e2e: varies
#include "common.h"

int main(void) {
  enum { kCount = 200 };
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pids[kCount];
  for (int i = 0; i < kCount; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) {
      close(ends[0]);
      write_all(ends[1], &i, sizeof i);
      _exit(i % 100);
    }
  }
  close(ends[1]);
  uint32_t order = HASH_START;
  int number, count = 0;
  long sum = 0;
  while (read_all(ends[0], &number, sizeof number) == sizeof number) {
    order = hash_bytes(order, &number, sizeof number);
    sum += number;
    count++;
  }
  int statuses = 0;
  for (int i = 0; i < kCount; i++) statuses += exit_status(pids[i]);
  say("%d arrived, sum %ld, statuses %d, order %08x\n", count, sum, statuses, order);
  CHECK(count == kCount && sum == 19900 && statuses == 9900);
  return 0;
}
