// C++ threads: async, futures, promises, call_once, shared_mutex, exceptions carried across threads.
// e2e: varies
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common.h"

int main() {
  std::vector<std::future<std::string>> results;
  std::shared_mutex guard;
  std::string order;
  std::once_flag once;
  int initialised = 0;
  for (int i = 0; i < 6; i++) {
    results.push_back(std::async(std::launch::async, [&, i]() -> std::string {
      std::call_once(once, [&] { initialised++; });
      {
        std::unique_lock hold(guard);
        order += static_cast<char>('a' + i);
      }
      if (i == 3) throw std::runtime_error("thrown in a thread");
      std::shared_lock hold(guard);
      return std::to_string(i) + " saw " + order;
    }));
  }
  for (auto& result : results) {
    try {
      say("%s\n", result.get().c_str());
    } catch (const std::exception& e) {
      say("caught: %s\n", e.what());
    }
  }
  std::promise<int> promise;
  std::jthread setter([&] { promise.set_value(initialised); });
  say("initialised %d times, order %s\n", promise.get_future().get(), order.c_str());
  return 0;
}
