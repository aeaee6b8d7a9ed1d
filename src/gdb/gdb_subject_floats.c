// Floating point and strings for gdb to look at: formula_test.
#include <math.h>
#include <string.h>

typedef double real;
struct point {
  double x;
  float y[3];
  real z;
  struct point* next;
  long double far;
};
struct point one = {1.5, {0.1f, -2.5f, 3e20f}, 7.25, 0, 1.0L / 3};
struct point two = {-0.75, {1, 2, 3}, 1e300, &one, -5};
struct point* head = &two;
struct point* nothing;
double d = 2.5, tenth = 0.1, zero, minus_zero = -0.0, huge = 1e308, tiny = 5e-324, nan_value, infinite, below;
float f = 0.1f, g = 16777217.0f, single_huge = 3e38f;
long double ld = 0.1L, large = 18446744073709551615.0L;
real named = 42.5;
const volatile double fixed = 3;
int i = 3, minus = -7, none;
unsigned u = 7, top = 0xffffffffu;
long l = 9007199254740993, least = -9223372036854775807 - 1;
unsigned long ul = 0xffffffffffffffff;
short s = -300;
unsigned char uc = 200;
char c = 'a';
enum color { RED, GREEN = 5 } color = GREEN;
_Bool yes = 1;
char name[16] = "abc", empty[4];
const char* pointer = "abd";
const char* null;
__thread double own = 6.5;
__float128 wide = 1;
double numbers[4] = {0.5, 1.5, 2.5, 3.5};
int (*compare)(const char*, const char*) = strcmp;
__attribute__((noinline)) double half(double of, float more) {
  double local = of / 2;
  float single = more;
  long double extended = local;
  double row[2] = {of, local};
  return local + single + (double)extended + row[1];  // line 44
}

int length(const char* text) { return (int)strlen(text); }
long double extend(long double of) { return of; }
double taking(struct point of) { return of.x; }

int main(int argc, char** argv) {
  (void)argv;
  if (extend(1) > 2 || taking(one) > 2) return length(name);
  nan_value = NAN * argc;
  infinite = INFINITY;
  below = -INFINITY;
  double sum = 0;
  for (int n = 1; n < 4; n++) sum += half(n * 1.25, 0.5f) + own + (double)strlen(name);
  return sum == 12345;
}
