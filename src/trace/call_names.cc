#include "pastcone/trace/call_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace pastcone {
namespace {

using Call = std::pair<uint32_t, std::string_view>;

constexpr Call kCalls[] = {
#define PASTCONE_CALL(number, name) {number, #name},
#include "pastcone/trace/calls.inc"
#undef PASTCONE_CALL
};

constexpr uint32_t kEnd = std::max_element(std::begin(kCalls), std::end(kCalls))->first + 1;

constexpr std::array<std::string_view, kEnd> kNames = [] {
  std::array<std::string_view, kEnd> names{};
  for (const Call& call : kCalls) names[call.first] = call.second;
  return names;
}();

}  // namespace

std::string_view call_name(uint32_t number) { return number < kEnd ? kNames[number] : std::string_view(); }

std::optional<uint32_t> call_number(std::string_view name) {
  static const std::vector<std::pair<std::string_view, uint32_t>> sorted = [] {
    std::vector<std::pair<std::string_view, uint32_t>> calls;
    for (const Call& call : kCalls) calls.emplace_back(call.second, call.first);
    std::sort(calls.begin(), calls.end());
    return calls;
  }();
  auto found = std::lower_bound(sorted.begin(), sorted.end(), std::pair(name, uint32_t{0}));
  if (found == sorted.end() || found->first != name) return std::nullopt;
  return found->second;
}

}  // namespace pastcone
