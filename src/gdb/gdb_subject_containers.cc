// Containers of C++'s library, for containers_test.
#include "gdb_subject_containers.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct Item {
  int price = 0;
  std::vector<double> weights;
};
struct Shop {
  std::vector<Item> items;
  std::string name;
};

std::vector<int> numbers{3, 1, 4, 1, 5};
std::vector<bool> flags{true, false};
std::deque<int> queue{7, 8};
std::array<long, 3> fixed{10, 20, 30};
std::string text = "some text";
Shop shop{{{5, {0.5, 1.5}}, {6, {2.5}}}, "corner"};
Shop* there = &shop;
int at = 2;

static int look(const std::vector<int>& given, int n) {
  std::vector<int> own(given);
  own[0] = n;
  return own[0] + own.back();
}

// These look like those of the library, and are others.
struct Pool {
  std::deque<int> c{1, 2, 3};
  size_t size() const { return 9; }
  int front() const { return 9; }
} pool;
struct Shifted : std::vector<int> {
  using std::vector<int>::vector;
  size_t size() const { return std::vector<int>::size() + 1; }
  int operator[](size_t i) const { return std::vector<int>::operator[](i) + 1; }
} shifted{1, 2};
struct Negated : std::atomic<int> {
  operator int() const { return -load(); }
} negated{5};
struct Handle {
  int* _M_ptr = &at;
  int* get() const { return nullptr; }
} handle;
struct KeptAway {
  void operator()(int* p) const { delete p; }
  int how = 1;
};
std::unique_ptr<int, KeptAway> with_deleter(new int(3));
std::vector<int>* row = new std::vector<int>[2] {
  {1, 2, 3}, { 4 }
};
std::vector<std::string>* texts = new std::vector<std::string>[2] {
  {"a", "bcd"}, { "ef" }
};
std::queue<int, std::list<int>> of_list;
std::array<int, 0> nothing;

struct Place {
  int x, y;
};
struct Fields {
  int x = 2, y = 3;
  bool flag = true;
  int& by_reference = x;
  std::vector<int> values{8, 9};
};
struct Wider : Fields {
  std::vector<int> values{1, 2, 3};
} wider;
Fields* narrowed = &wider;
enum class State { kIdle, kRunning };
thread_local std::atomic<int> in_thread = 4;
thread_local std::vector<int> in_thread_too{1, 2};
bool said[300];

static void answered() {}

struct Asked {
  static std::vector<int> all;
  std::vector<int> items{1, 2};
  std::atomic<int> done = 1;
  __attribute__((noinline)) void ask();
};
std::vector<int> Asked::all{1};

void Asked::ask() {
  using Numbers = std::vector<int>;
  Numbers none, &by_reference = numbers, *pointer = &numbers;
  std::vector<std::vector<int>> two{{6, 7}, {8}};
  std::vector<std::string> words{"one", "0123456789012345678901234567890123456789"};
  std::vector<bool> many_flags(70);
  many_flags[66] = true;
  std::string no_text, *name = &text, quoted = "tab\tand \"quotes\"";
  std::wstring wide = L"hid";
  std::string foreign = "Grüßüüü";
  std::string_view view(text.data(), 4);
  std::span<int> part(numbers.data() + 1, 2);
  std::array<Place, 2> places{{{2, 3}, {4, 5}}};
  std::array<std::array<short, 3>, 2> grid{{{1, 2, 3}, {4, 5, 6}}};
  std::map<int, std::string> map{{1, "a"}, {2, "b"}}, no_map;
  std::set<long> set{1, 2, 3};
  std::multiset<char> multiset{1, 1, 2, 2};
  std::multimap<int, int> multimap{{1, 1}};
  std::unordered_map<std::string, int> hashed{{"a", 1}, {"b", 2}}, no_hash;
  std::unordered_set<int> hashed_set{4};
  std::list<Place> list{{1, 2}, {3, 4}, {5, 6}}, no_list;
  std::deque<int> deque, no_deque, emptied, full_node;
  for (int i = 0; i < 700; ++i) deque.push_back(i);
  for (int i = 0; i < 300; ++i) deque.pop_front();
  for (int i = 0; i < 130; ++i) emptied.push_back(i);
  while (!emptied.empty()) emptied.pop_front();
  for (int i = 0; i < 128; ++i) full_node.push_back(i);
  struct Big {
    int x;
    char rest[600];
  };
  std::deque<Big> big{{5, {}}, {6, {}}, {7, {}}};
  std::deque<int16_t> shorts;
  for (int16_t i = 0; i <= 300; ++i) shorts.push_back(i);
  std::queue<int> queue({7, 8}), no_queue;
  std::stack<int, std::vector<int>> stack({1, 2});
  std::priority_queue<int> heap;
  for (int i : {1, 9, 3}) heap.push(i);
  std::queue<int, std::list<int>> listed({1});
  std::atomic<int> count = 5, minus = -1, *count_pointer = &count, &count_reference = count;
  std::atomic<uint8_t> small = 200;
  std::atomic<bool> ready = true, unready = false;
  std::atomic<State> state = State::kRunning;
  std::atomic_flag flag, no_flag;
  flag.test_and_set();
  std::atomic<double> half = 0.5;
  Place place{2, 3};
  std::atomic<Place*> to_place = &place;
  auto unique = std::make_unique<Fields>();
  std::unique_ptr<Fields> no_unique;
  auto unique_number = std::make_unique<int>(11);
  std::unique_ptr<Place[]> unique_array(new Place[2]{{5, 5}, {6, 6}});
  auto shared = std::make_shared<Fields>();
  std::shared_ptr<Fields> other_shared = shared, no_shared;
  auto shared_number = std::make_shared<int>(12);
  std::shared_ptr<Place[]> shared_array(new Place[3]{{5, 5}, {6, 6}, {7, 7}});
  std::vector<std::unique_ptr<Fields>> kept(2);
  kept[1] = std::make_unique<Fields>();
  std::unique_ptr<Fields>* kept_pointer = &kept[1];
  std::optional<int> maybe = 6, no_maybe = 6;
  no_maybe.reset();
  std::optional<Place> maybe_place{{8, 9}};
  std::optional<std::string> maybe_text = "maybe";
#define ANSWER(...) static_cast<bool>(__VA_ARGS__),
  bool answers[] = {CONTAINER_EXPRESSIONS(ANSWER)};
  for (size_t i = 0; i < sizeof(answers); ++i) said[i] = answers[i];
  answered();
}

// The same name means different classes.
template <typename C>
__attribute__((noinline)) size_t size_of(const C& c) {
  return c.size();
}

int main() {
  Asked().ask();
  if (size_of(shifted) == size_of(numbers) || pool.size() == 0 || negated == 0 || handle.get() != nullptr ||
      !with_deleter || of_list.size() != 0 || nothing.size() != 0)
    return 1;
  return look(numbers, at) == 0 || flags[0] == flags[1] || queue[0] == 0 || text.empty();
}
