// What C++ has beside C, for compile_test.
enum class State { kIdle, kBusy = 7 };
enum Old : unsigned char { kA, kB = 200 };

namespace ns {
int counter = 3;
struct Q {
  static int s;
};
int Q::s = 4;
}  // namespace ns

struct Base {
  virtual ~Base() = default;
  virtual int f() { return b; }
  int b = 11;
};

long far = 77;
__int128 wide = 1;
int x = 1;
bool g = true;

struct Derived : Base {
  int d = 12;
  bool flag = false;
  State st = State::kBusy;
  State& state_ref = st;
  Old o = kB;
  int& ref = ns::counter;
  long& long_ref = far;
  int f() override {
    int loc = d + b;
    return loc + d;
  }
};

int five = 5;
int* to_five = &five;
int*& pointer_ref = to_five;
int** to_pointer = &to_five;
int**& pointer_pointer_ref = to_pointer;
int sevens[3] = {7, 8, 9};
int (&array_ref)[3] = sevens;
const char* word = "ab";
const char* const& word_ref = word;
unsigned hash = 0x90000001;
unsigned long bits = 4;
int minus = -3;
long large = 5000000000;
unsigned long huge = 1ul << 63;
unsigned char narrow = 200;
bool no = false;
struct {
  Old old : 8;
  unsigned three : 3;
} fields = {kA, 3};

struct Virtual {
  int v = 20;
};
struct B1 {
  int b1 = 21;
};
struct B2 {
  int b2 = 22;
};
struct T2 : B1, B2, virtual Virtual {
  int own = 23;
} two;
T2* to_two = &two;
typedef B2* B2p;
B2p second_of_two = &two;

Derived obj;
Derived& obj_ref = obj;
Base* bp = &obj;

using Truth = bool;
Truth truth = true;
struct Other {
  int other = 21;
};
struct Both : Base, Other {
  static int shared;
  int own = 31;
};
int Both::shared = 6;
Both both;
Both& both_ref = both;
Other* second = &both;
struct Pointing {
  int own = 41;
  Both* operator->() const { return &both; }
};
Pointing pointing;
struct {
  unsigned five : 5;
  unsigned all : 32;
  unsigned long wide : 40;
  unsigned char byte : 3;
} unsigned_fields = {3, 3, 3, 3};
enum Large : long { kLarge = 1l << 40 };
enum class Small : signed char { kBelow = -1 };
Large large_one = kLarge;
Small small_one = Small::kBelow;

template <typename T>
int tmpl(T t) {
  int q = static_cast<int>(t);
  return q + x;
}

int main() { return bp->f() + tmpl(1) + tmpl(2.5) == 0; }
