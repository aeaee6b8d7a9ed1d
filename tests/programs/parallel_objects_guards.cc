// The C++ side of the object API: guards, and an object on the heap.
// e2e: stable parallel
#include <pastcone/object.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "common.h"

struct Account {
  pastcone::object object{"account"};
  std::atomic<long> balance{0};
};

int main() {
  auto account = std::make_unique<Account>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        {
          pastcone::writing now(account->object);
          account->balance += k;
          if (k % 100 != 0) continue;
        }
        pastcone::reading now(account->object);
        CHECK(account->balance >= 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  pastcone::reading now(account->object);
  say("balance %ld\n", account->balance.load());
  return 0;
}
