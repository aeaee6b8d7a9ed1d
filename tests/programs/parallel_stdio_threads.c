// Threads that print to one stream without a lock of their own, by each function there is; and that read from one.
// e2e: varies
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { kThreads = 8, kRounds = 60 };
static FILE *shared, *numbers;

static void print(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}

static void *run(void *argument) {
  int me = (int)(long)argument;
  char line[64];
  unsigned long seen = 1;
  for (int i = 0; i < kRounds; ++i) {
    printf("%d: %d %s %.3f %d %d %d %d %g %g\n", me, i, "printf", i / 7.0, 1, 2, 3, 4, 0.5 * me, 2.5);
    fprintf(shared, "%d: %g %d fprintf %f\n", me, 1.5 * i, i, 2.0 * me);
    print("%d: vprintf %d %.2f\n", me, i, i * 0.25);
    snprintf(line, sizeof line, "%d: puts", me);
    puts(line);
    putchar('a' + me);
    putc('0' + me, stdout);
    fputc('\n', stdout);
    fputs("fputs\n", shared);
    snprintf(line, sizeof line, "%d: fwrite\n", me);
    fwrite(line, 1, strlen(line), stdout);
    if (i % 20 == me) fflush(stdout);
    flockfile(stdout);
    putchar_unlocked('{');
    printf("%d", me);
    putchar_unlocked('}');
    putchar_unlocked('\n');
    funlockfile(stdout);
    if (ftrylockfile(shared) == 0) {
      fprintf(shared, "%d has it\n", me);
      funlockfile(shared);
    }
    if (fgets(line, sizeof line, numbers)) seen = seen * 31 + (unsigned long)atol(line);
    int number;
    if (fscanf(numbers, "%d", &number) == 1) seen = seen * 31 + (unsigned)number;
    seen = seen * 31 + (unsigned)getc(numbers);
    fwprintf(stderr, L"%d: wide %d\n", me, i);
  }
  printf("%d saw %lx\n", me, seen);
  return 0;
}

int main(void) {
  shared = tmpfile();
  numbers = tmpfile();
  if (!shared || !numbers) return 1;
  for (int i = 0; i < 2 * kThreads * kRounds; ++i) fprintf(numbers, "%d\n", i);
  rewind(numbers);
  fprintf(shared, "begin\n");  // whatever streams allocate is there before the threads are
  printf("begin %c\n", getc(numbers));
  fwprintf(stderr, L"begin\n");
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], 0, run, (void *)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], 0);
  rewind(shared);
  char *line = 0;
  size_t room = 0;
  while (getline(&line, &room, shared) >= 0) fputs(line, stdout);
  free(line);
  return 0;
}
