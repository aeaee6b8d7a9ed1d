#include "pastcone/patch/hooked.h"

#include <algorithm>
#include <array>
#include <map>

namespace pastcone::patch {
namespace {

enum class Library { kLibc, kLibstdcxx };
enum class Use { kWrapped, kReplaced, kCalled };

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
bool is_library(const ElfImage& image, Library library) {
  std::string_view mark = library == Library::kLibc ? "gnu_get_libc_version" : "__cxa_get_globals_fast";
  return std::ranges::any_of(image.symbols(),
                             [&](const Symbol& s) { return s.is_exported && s.name == mark; });
}

}  // namespace

std::vector<HookedFunction> find_hooked(const ElfImage& image) {
  std::array<bool, 2> is = {is_library(image, Library::kLibc), is_library(image, Library::kLibstdcxx)};
  std::vector<HookedFunction> found;
  if (!is[0] && !is[1]) return found;
  for (const Symbol& symbol : image.symbols()) {
    if (!symbol.is_exported || !symbol.is_function) continue;
    auto entry = wanted().find(symbol.name);
    if (entry == wanted().end() || !is.at(static_cast<size_t>(entry->second.library))) continue;
    found.push_back({entry->second.hook, entry->first, symbol.address,
                     entry->second.use == Use::kReplaced, entry->second.use == Use::kCalled});
  }
  // One function may have several of the names; it then is what stands first in the list.
  std::ranges::sort(found, {}, [](const HookedFunction& f) { return std::pair(f.address, f.hook); });
  auto again = std::ranges::unique(found, {}, &HookedFunction::address);
  found.erase(again.begin(), again.end());
  return found;
}

}  // namespace pastcone::patch
