// Predicates that gdb has to be asked about: calls, floating point, strings; a thread's own variables; many words.
// e2e: helper
#pragma GCC optimize("O0")  // each assignment is a state
#include <stdio.h>
#include <string.h>

struct Node {
  int value;
  struct Node* next;
};

static struct Node third = {3, NULL}, second = {2, &third}, first = {1, &second};
struct Node* list;
double ratio;
__thread int own = 7;
char name[16];
long parts[6];
int marks;

int count_of(const struct Node* node) {
  int count = 0;
  for (; node; node = node->next) count++;
  return count;
}

int is_named(const char* wanted) { return strcmp(name, wanted) == 0; }

long whole(void) {
  long sum = 0;
  for (int i = 0; i < 6; i++) sum += parts[i];
  return sum;
}

int counting(int how) { return marks += how; }

int says(int what) { return printf("%d\n", what); }

__attribute__((noinline)) int handle(int number) {
  double share = number;
  for (int i = 0; i < 4; i++) {
    ratio += 0.25;
    share /= 2;
  }
  return (int)share;
}

int main(void) {
  list = &third;
  list = &second;
  list = &first;
  strcpy(name, "abd");
  strcpy(name, "abc");
  own = 9;
  for (int i = 0; i < 6; i++) parts[i] = i;
  int done = 0;
  for (int i = 1; i < 4; i++) done += handle(8 * i);
  list = NULL;
  says(done);
  return 0;
}
