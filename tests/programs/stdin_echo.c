// Standard input: read line by line and in blocks, numbered and echoed.
// e2e: stable stdin=3000
#include "common.h"

int main(void) {
  char* line = NULL;
  size_t size = 0;
  ssize_t n;
  int count = 0;
  while (count < 5 && (n = getline(&line, &size, stdin)) > 0) printf("%d: %s", ++count, line);
  char block[777];
  uint32_t hash = HASH_START;
  long total = 0;
  while ((n = (ssize_t)fread(block, 1, sizeof block, stdin)) > 0) {
    hash = hash_bytes(hash, block, (size_t)n);
    total += n;
  }
  printf("rest: %ld bytes, %08x, end %d\n", total, hash, feof(stdin) != 0);
  free(line);
  return 0;
}
