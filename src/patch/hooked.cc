#include "pastcone/patch/hooked.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace pastcone::patch {
namespace {

/// kHeap: libc, or an allocator that takes its place.
enum class Library { kLibc, kLibstdcxx, kLibgomp, kAllocator, kHeap };
enum class Use { kWrapped, kOptional, kReplaced, kCalled, kData };

/// By which a library is known.
struct Mark {
  std::string_view symbol;
  Library library;
};
constexpr std::array<Mark, 5> kMarks = {{{"gnu_get_libc_version", Library::kLibc},
                                         {"__cxa_get_globals_fast", Library::kLibstdcxx},
                                         {"GOMP_parallel", Library::kLibgomp},
                                         {"mallctl", Library::kAllocator},
                                         {"tc_malloc", Library::kAllocator}}};

struct Wanted {
  Hook hook;
  Library library;
  Use use;
};

const std::map<std::string_view, Wanted>& wanted() {
  static const std::map<std::string_view, Wanted> table = {
#define X(name, library, use) {#name, {Hook::name, Library::library, Use::use}},
      PASTCONE_HOOKS(X)
#undef X
  };
  return table;
}

/// Functions of these names in any other file are the program's own, and none of our business.
bool is_library(const ElfImage& image, std::string_view mark) {
  return std::ranges::any_of(image.symbols(),
                             [&](const Symbol& s) { return s.is_exported && s.name == mark; });
}

}  // namespace

std::vector<HookedFunction> find_hooked(const ElfImage& image) {
  std::set<Library> is;
  for (const Mark& mark : kMarks) {
    if (is_library(image, mark.symbol)) is.insert(mark.library);
  }
  if (is.contains(Library::kLibc) || is.contains(Library::kAllocator)) is.insert(Library::kHeap);
  std::vector<HookedFunction> found;
  if (is.empty()) return found;
  auto add = [&](const Symbol& symbol, bool is_data) {
    auto entry = wanted().find(symbol.name);
    if (entry == wanted().end() || !is.contains(entry->second.library)) return;
    Use use = entry->second.use;
    if ((use == Use::kData) != is_data) return;
    found.push_back({entry->second.hook, entry->first, symbol.address, use == Use::kReplaced,
                     use == Use::kCalled, is_data, use == Use::kOptional});
  };
  for (const Symbol& symbol : image.symbols()) {
    if (symbol.is_exported && symbol.is_function) add(symbol, false);
  }
  for (const Symbol& symbol : image.data()) add(symbol, true);
  // One function may have several of the names; it then is what stands first in the list.
  std::ranges::sort(found, {}, [](const HookedFunction& f) { return std::pair(f.address, f.hook); });
  auto again = std::ranges::unique(found, {}, &HookedFunction::address);
  found.erase(again.begin(), again.end());
  return found;
}

}  // namespace pastcone::patch
