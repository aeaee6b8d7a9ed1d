// C++ exceptions through deep frames, destructors on the way, rethrown, and output by iostream.
// e2e: stable
#include <iostream>
#include <stdexcept>
#include <string>

#include "common.h"

namespace {
struct Trace {
  int depth;
  ~Trace() {
    if (depth % 10 == 0) std::cout << "unwinding " << depth << "\n";
  }
};

void descend(int depth) {
  Trace trace{depth};
  if (depth == 50) throw std::out_of_range("deep enough");
  descend(depth + 1);
}
}  // namespace

int main() {
  try {
    try {
      descend(0);
    } catch (const std::logic_error& e) {
      std::cout << "caught " << e.what() << std::endl;
      throw std::runtime_error(std::string("again: ") + e.what());
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
  }
  return 0;
}
