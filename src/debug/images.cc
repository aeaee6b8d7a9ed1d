#include "pastcone/debug/images.h"

#include <elf.h>

#include <cstring>

namespace pastcone::debug {
namespace {

void add_site(const gdb::Value& from, std::vector<Site>& sites) {
  if (auto address = from["addr"].number())
    sites.push_back({*address, from["func"].text, from["file"].text, from["line"].text, {}, {}});
}

}  // namespace

Image Images::image(ProcessId process) {
  Inferior inferior(engine_, process);
  Image image{inferior.program(), 0};
  std::vector<uint8_t> bytes = inferior.auxv();
  for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= bytes.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.a_type == AT_ENTRY) image.entry = entry.a_un.a_val;
  }
  return image;
}

Result<std::vector<Site>> Images::ask(gdb::Gdb& gdb, const std::string& location, const std::string& condition) {
  gdb::Answer answer = TRY(gdb.run(fmt::format("-break-insert {}", gdb::c_string(location))));
  if (!answer.good) return fail("{}", answer.error);
  std::vector<Site> sites;
  const gdb::Value& point = answer.results["bkpt"];
  add_site(point, sites);
  for (const auto& [name, place] : point["locations"].items) add_site(place, sites);
  TRY(gdb.run(fmt::format("-break-delete {}", point["number"].text)));
  if (condition.empty()) return sites;
  Result<std::vector<gdb::Formula>> all = gdb::compile_formulas(gdb, condition, location);
  if (!all && !gdb::is_only_uncompiled(all.error().message)) return tl::unexpected<Error>(all.error());
  for (Site& site : sites) {
    if (!all) site.asked = condition;
    if (!all) continue;
    for (const gdb::Formula& one : *all)
      if (!site.condition || one.scope() == site.address) site.condition = one;
  }
  return sites;
}

Result<std::vector<Site>> Images::find(ProcessId process, const std::string& location,
                                       const std::string& condition) {
  auto key = std::tuple(image(process), location, condition);
  if (auto known = found_.find(key); known != found_.end()) return known->second;
  gdb::Gdb* gdb = TRY(seats_.look_at(ThreadId(process, 1)));
  std::vector<Site> sites = TRY(ask(*gdb, location, condition));
  if (sites.empty()) return fail("there is no code at {}", location);
  return found_[key] = std::move(sites);
}

}  // namespace pastcone::debug
