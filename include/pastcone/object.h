// Shared objects for pastcone: says where a program reads and writes data that its threads or processes share without locks,
// so that `pastcone record --threads=parallel` can keep the order, and `pastcone show obj` can show it by name.
//
//   struct { struct pastcone_object object; long value; } total = {PASTCONE_OBJECT("total"), 0};
//
//   pastcone_write_begin(&total.object);
//   __atomic_fetch_add(&total.value, n, __ATOMIC_RELAXED);
//   pastcone_write_end(&total.object);
//
// Not recorded, a call is a load and a branch: nothing is locked, and the program must be right without. Recorded in parallel,
// a write has the object alone and reads have it together; so keep begin and end close together, and begin no write inside a
// read of the same object. Recorded serially, accesses are counted. An object lies in the data it stands for, also in
// memory that processes share; pastcone_object_init() makes it a new one, as does pastcone_object_destroy() for who comes next.
//
// C99 or C++11, GCC or clang, Linux on x86-64; nothing to link. A program whose seccomp filter ends it for unknown system calls
// must allow PASTCONE_CALL.
#ifndef PASTCONE_OBJECT_H
#define PASTCONE_OBJECT_H

#include <stdint.h>

/// A system call that no kernel has: -ENOSYS, or where the functions are.
#define PASTCONE_CALL 0x0ca57c0e
#define PASTCONE_CALL_VERSION 1

enum { PASTCONE_NAME_SIZE = 32 };

struct pastcone_object {
  char name[PASTCONE_NAME_SIZE];  ///< at most 31 characters
  uint64_t state[12];             ///< pastcone's; 0 in a new object
};

#ifdef __cplusplus
#define PASTCONE_OBJECT(name) {name, {}}
#else
#define PASTCONE_OBJECT(name) {name, {0}}
#endif

/// What the recorder gives.
struct pastcone_functions {
  void (*read_begin)(struct pastcone_object*);
  void (*read_end)(struct pastcone_object*);
  void (*write_begin)(struct pastcone_object*);
  void (*write_end)(struct pastcone_object*);
};

/// Asks once.
static inline const struct pastcone_functions* pastcone_ask(uintptr_t* known) {
  long answer = PASTCONE_CALL;
  __asm__ volatile("syscall" : "+a"(answer) : "D"((long)PASTCONE_CALL_VERSION) : "rcx", "r11", "memory");
  if (answer <= 0) answer = 1;
  __atomic_store_n(known, (uintptr_t)answer, __ATOMIC_RELAXED);
  return answer == 1 ? 0 : (const struct pastcone_functions*)answer;
}

static inline const struct pastcone_functions* pastcone_recorder(void) {
  static uintptr_t known;  // 1: there is none
  uintptr_t now = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (__builtin_expect(now == 1, 1)) return 0;
  return now ? (const struct pastcone_functions*)now : pastcone_ask(&known);
}

static inline void pastcone_read_begin(struct pastcone_object* object) {
  const struct pastcone_functions* recorder = pastcone_recorder();
  if (recorder) recorder->read_begin(object);
}
static inline void pastcone_read_end(struct pastcone_object* object) {
  const struct pastcone_functions* recorder = pastcone_recorder();
  if (recorder) recorder->read_end(object);
}
static inline void pastcone_write_begin(struct pastcone_object* object) {
  const struct pastcone_functions* recorder = pastcone_recorder();
  if (recorder) recorder->write_begin(object);
}
static inline void pastcone_write_end(struct pastcone_object* object) {
  const struct pastcone_functions* recorder = pastcone_recorder();
  if (recorder) recorder->write_end(object);
}

static inline void pastcone_object_init(struct pastcone_object* object, const char* name) {
  unsigned i = 0;
  for (; i < PASTCONE_NAME_SIZE - 1 && name[i]; ++i) object->name[i] = name[i];
  for (; i < PASTCONE_NAME_SIZE; ++i) object->name[i] = 0;
  for (i = 0; i < sizeof object->state / sizeof object->state[0]; ++i) object->state[i] = 0;
}
static inline void pastcone_object_destroy(struct pastcone_object* object) {
  for (unsigned i = 0; i < sizeof object->state / sizeof object->state[0]; ++i) object->state[i] = 0;
}

#ifdef __cplusplus
namespace pastcone {

/// pastcone::object total("total"); … { pastcone::writing w(total); value += n; }
class object : private ::pastcone_object {
 public:
  explicit object(const char* called) { pastcone_object_init(this, called); }
  ~object() { pastcone_object_destroy(this); }
  object(const object&) = delete;
  object& operator=(const object&) = delete;

  void read_begin() { pastcone_read_begin(this); }
  void read_end() { pastcone_read_end(this); }
  void write_begin() { pastcone_write_begin(this); }
  void write_end() { pastcone_write_end(this); }
};

/// The object is read while this is in scope.
class reading {
 public:
  explicit reading(object& of) : object_(of) { object_.read_begin(); }
  ~reading() { object_.read_end(); }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;

 private:
  object& object_;
};

/// The object is written while this is in scope.
class writing {
 public:
  explicit writing(object& of) : object_(of) { object_.write_begin(); }
  ~writing() { object_.write_end(); }
  writing(const writing&) = delete;
  writing& operator=(const writing&) = delete;

 private:
  object& object_;
};

}  // namespace pastcone
#endif

#endif
