// Values of all kinds for gdb to look at: gdb_test, compile_test.
#include <poll.h>

enum color { RED, GREEN = 5, BLUE };
struct part {
  short s;
  unsigned char uc;
  signed char sc;
};
struct thing {
  int x;
  unsigned u;
  long l;
  struct part in;
  struct thing* next;
  unsigned a : 3;
  int b : 5;
  enum color c;
  double d;
  int arr[4];
  _Bool ok;
};
struct thing one = {.x = 1, .u = 0xffffffffu, .l = -5, .in = {-3, 200, -7}, .a = 5, .b = -3, .c = GREEN, .d = 1.5,
                    .arr = {10, 20, 30, 40}, .ok = 1};
struct thing two = {.x = 2, .next = &one};
struct thing* head = &two;
struct thing* nothing;
int x = 1, zero, minus = -7;
unsigned u = 7;
long big = 0x123456789abcdefL;
char ch = 'A';
float f = 2.5f;
const char* name = "abc";
static int hidden = 42;
__thread int tls = 9;
int numbers[3] = {7, 8, 9};

__attribute__((noinline)) int inner(int depth, const char* p) {
  int local = depth * 2;
  unsigned short us = 65535;
  volatile int vol = local;
  x = x + 1;
  poll(0, 0, 0);
  return vol + depth + us + *p;  // line 44
}

int (*function)(int, const char*) = inner, doubled(int), sized(int);

int main(int argc, char** argv) {
  int r = argv[0][0];
  for (int i = 3; i < 6; i++) r += inner(i, name) + hidden + tls;  // line 51
  if (argc > 1) poll(0, 0, -1);
  return r == 12345 + doubled(argc) + sized(argc);
}

int doubled(int number) {
  volatile int kept = number;
  return kept * 2;
}

struct mixed {
  int kind;
  union {
    int whole;
    struct {
      short low, high;
    };
    float real;
  };
  struct {
    char letters[3];
    unsigned nibble : 4;
  };
  union {
    struct pair {
      int first, second;
    } pair;
    long both;
  };
} mixed = {.kind = 3, .whole = 0x70005, .letters = "ab", .nibble = 9, .pair = {4, -6}}, *to_mixed = &mixed;

enum __attribute__((packed)) tiny { TINY = 200 } tiny = TINY;
enum sided { LEFT = -1, RIGHT = 1 } sided = LEFT;
enum vast { CLOSE, FAR_OUT = 0x100000000 } vast = FAR_OUT;
typedef enum { SMALL = 1, LARGE = 4 } sized_t;
sized_t size = LARGE;
int thousand = 1024;
typedef struct {
  int kind;
  union {
    int inside;
    float other;
  };
} Tagless;
Tagless tagless = {1, {12}};

int sized(int number) {
  volatile char room[number + 2];
  room[0] = 1;
  return room[0];  // in sized
}

// Without debug information.
__asm__(".data\n.globl bare\n.balign 8\n.type bare, @object\n.size bare, 8\nbare: .long 42, 43\n.text");
