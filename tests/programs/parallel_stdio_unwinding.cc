// Streams made of functions of the program, which throw, are cancelled or end their thread while others wait for the stream.
// e2e: varies parallel
#include <pthread.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "common.h"

namespace {

constexpr int kThreads = 4, kRounds = 100;

FILE* stream;
int uses;  // of the stream, which has a lock; each writes or reads through, as it has no buffer
uint32_t order = HASH_START;

void use(const void* data, size_t size) {
  uses++;
  order = hash_bytes(order, data, size);
  if (uses % 7 == 0) throw std::runtime_error("no");
}
ssize_t write_some(void*, const char* data, size_t size) {
  use(data, size);
  return static_cast<ssize_t>(size);
}
ssize_t read_some(void*, char* data, size_t size) {
  memset(data, 'a' + uses % 26, size);
  use(data, size);
  return static_cast<ssize_t>(size);
}

int thrown[kThreads];
template <typename Use>
void try_to(int thread, Use one_use) {
  try {
    one_use();
  } catch (const std::runtime_error&) {
    thrown[thread]++;
    clearerr(stream);
  }
}

void work(int thread) {
  char text[8];
  for (int i = 0; i < kRounds; i++) {
    snprintf(text, sizeof text, "%d", thread * 100 + i % 100);
    try_to(thread, [&] { fputs(text, stream); });
    try_to(thread, [&] { fwrite(text, 1, 2, stream); });
    try_to(thread, [&] { fseek(stream, 0, SEEK_CUR); });
    try_to(thread, [&] { CHECK(fread(text, 1, 1, stream) <= 1); });
    try_to(thread, [&] { fseek(stream, 0, SEEK_CUR); });
  }
}

int seek(void*, off64_t* offset, int) {
  *offset = 0;
  return 0;
}

FILE* open_stream(cookie_read_function_t* reads, cookie_write_function_t* writes, cookie_seek_function_t* seeks) {
  FILE* opened = fopencookie(nullptr, "w+", {reads, writes, seeks, nullptr});
  CHECK(opened != nullptr && setvbuf(opened, nullptr, _IONBF, 0) == 0);
  return opened;
}

// Whoever has the stream is cancelled in it, or ends there, while the others wait for it.
int entered[2];
thread_local char me;
ssize_t never_return(void*, const char*, size_t size) {
  if (me == 0) return static_cast<ssize_t>(size);
  write_all(entered[1], &me, 1);
  if (me % 2 != 0) pthread_exit(nullptr);
  for (;;) pause();
}
void* print(void* arg) {
  me = *static_cast<char*>(arg);
  fprintf(stream, "%d", me);
  return arg;
}

void leave_one_by_one() {
  stream = open_stream(nullptr, never_return, nullptr);
  CHECK(pipe(entered) == 0);
  pthread_t threads[kThreads];
  char names[kThreads];
  for (int i = 0; i < kThreads; i++) {
    names[i] = static_cast<char>(i + 1);
    CHECK(pthread_create(&threads[i], nullptr, print, &names[i]) == 0);
  }
  for (int i = 0; i < kThreads; i++) {
    char who = 0;
    CHECK(read(entered[0], &who, 1) == 1);
    if (who % 2 == 0) CHECK(pthread_cancel(threads[who - 1]) == 0);
    void* result = nullptr;
    CHECK(pthread_join(threads[who - 1], &result) == 0);
    say("%d left: %d\n", who, result == PTHREAD_CANCELED);
  }
  say("and now %d\n", fprintf(stream, "main"));
}

}  // namespace

int main() {
  stream = open_stream(read_some, write_some, seek);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
  say("%d uses, order %08x, thrown %d %d %d %d\n", uses, order, thrown[0], thrown[1], thrown[2], thrown[3]);
  leave_one_by_one();
  return 0;
}
