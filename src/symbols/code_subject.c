// Functions for code_file_test: it looks at their code without running it. What they are in is said by name.
#include <alloca.h>
#include <stddef.h>

void taken(volatile char* bytes, size_t count);

static inline __attribute__((always_inline)) int inlined(int* value) {
  return *value * 7;  // line 8
}

__attribute__((noinline)) int calls_inlined(int* value) {
  int seven = inlined(value);  // line 12
  return seven + 1;
}

__attribute__((noinline)) void has_frame_pointer(size_t count) {
  taken(alloca(count), count);
}

__attribute__((noinline)) void aligns_stack(size_t count) {
  _Alignas(64) char bytes[256];
  taken(bytes, sizeof bytes);
  taken(alloca(count), count);
}

__attribute__((noinline)) void has_plain_frame(void) {
  char bytes[1024];
  taken(bytes, sizeof bytes);
}
