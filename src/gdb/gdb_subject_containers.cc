// Containers of C++'s library, for containers_test.
#include <array>
#include <deque>
#include <string>
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

int main() { return look(numbers, at) == 0 || flags[0] == flags[1] || queue[0] == 0 || text.empty(); }
