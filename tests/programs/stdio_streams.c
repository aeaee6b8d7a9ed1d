// stdio: full, line and no buffering, ungetc, seeking, scanf, a stream over a string, perror.
// e2e: stable
#include "common.h"

int main(void) {
  FILE* file = fopen("numbers", "w+");
  CHECK(file != NULL);
  for (int i = 0; i < 500; i++) fprintf(file, "%d %s\n", i, i % 2 ? "odd" : "even");
  CHECK(fseek(file, 0, SEEK_SET) == 0);
  int number, sum = 0, odd = 0;
  char word[8];
  while (fscanf(file, "%d %7s", &number, word) == 2) {
    sum += number;
    odd += word[0] == 'o';
  }
  printf("sum %d, odd %d, at %ld\n", sum, odd, ftell(file));
  fclose(file);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("line ");
  printf("buffered\n");
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("not ");
  printf("buffered\n");
  char* text = NULL;
  size_t size = 0;
  FILE* memory = open_memstream(&text, &size);
  fprintf(memory, "%05.2f|%-6s|%x", 3.14159, "ab", 255);
  fclose(memory);
  printf("%s %zu\n", text, size);
  free(text);
  CHECK(fopen("missing", "r") == NULL);
  perror("missing");
  return 0;
}
