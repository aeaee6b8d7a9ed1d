// Floating point as C++ has it, for formula_test.
double value = 1.25;
double& ref = value;
const float& constant = 0.5f;

namespace ns {
double inside = 4.5;
}

struct Base {
  virtual ~Base() = default;
  virtual double f() { return weight; }
  double weight = 2.5;
};

struct Derived : Base {
  float part = 0.75f;
  double& other = ns::inside;
  static long double all;
  bool flag = true;
  double f() override {
    double local = part + weight;
    return local + other;
  }
};
long double Derived::all = 9.5L;

Derived object;
Derived& same = object;
Base* base = &object;

template <typename T>
T twice(T t) {
  T sum = t + t;
  return sum;
}

int main() { return base->f() + twice(1) + twice(2.5) == 0; }
