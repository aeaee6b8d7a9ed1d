#include "pastcone/symbols/module_lookup.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace pastcone::symbols {
namespace {

int find_debuginfo(Dwfl_Module* module, void** user_data, const char* name, Dwarf_Addr base, const char* file,
                   const char* link, GElf_Word checksum, char** found) {
  int fd = dwfl_build_id_find_debuginfo(module, user_data, name, base, file, link, checksum, found);
  // `name` is that of the original, beside which it would be.
  return fd >= 0 ? fd
                 : dwfl_standard_find_debuginfo(module, user_data, name, base, name, link, checksum, found);
}

std::string demangled(const char* name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                    std::free);
  return plain ? plain.get() : name;
}

}  // namespace

const Dwfl_Callbacks kFindDebugInformation = {
    .find_elf = nullptr,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

std::vector<Location> locate_in(Dwfl_Module* module, const DebugUnits& units, uint64_t address) {
  std::vector<Location> found = units.locate(address);
  if (found.empty()) found.emplace_back();
  Location& outer = found.back();
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  Dwarf_Addr begin = 0;
  const char* file = dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
  // A symbol without a size may be that of anything before.
  bool in_function = name != nullptr && offset < std::max<uint64_t>(symbol.st_size, 1);
  if (in_function && outer.function.empty()) outer.function = demangled(name);
  for (Location& each : found) {
    each.module = file;
    each.offset = in_function ? offset : address - begin;
  }
  return found;
}

}  // namespace pastcone::symbols
