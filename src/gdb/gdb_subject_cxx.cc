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

Derived obj;
Derived& obj_ref = obj;
Base* bp = &obj;

template <typename T>
int tmpl(T t) {
  int q = static_cast<int>(t);
  return q + x;
}

int main() { return bp->f() + tmpl(1) + tmpl(2.5) == 0; }
