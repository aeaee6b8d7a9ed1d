// Which functions of a file are to be hooked.
#pragma once

#include <string_view>
#include <vector>

#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/hooks.h"

namespace pastcone::patch {

struct HookedFunction {
  Hook hook;
  std::string_view name;
  uint64_t address;
  bool replaced;   ///< never called as it was
  bool untouched;  ///< only called
  bool is_data;    ///< neither
  bool optional;   ///< if it cannot be hooked, the others are all the same
};

/// In order of address.
std::vector<HookedFunction> find_hooked(const ElfImage& image);

}  // namespace pastcone::patch
