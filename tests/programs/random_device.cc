// std::random_device, by default and by name, and engines seeded from it.
// e2e: varies
#include <random>

#include "common.h"

int main() {
  std::random_device by_default;
  for (int i = 0; i < 4; i++) say("default %u\n", by_default());
  std::random_device by_name("/dev/urandom");
  say("urandom %u\n", by_name());
  std::mt19937 engine(by_default());
  say("engine %lu, entropy %g\n", static_cast<unsigned long>(engine()), by_default.entropy());
  return 0;
}
