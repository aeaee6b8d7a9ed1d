#include "pastcone/debug/images.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "pastcone/base/files.h"

namespace pastcone::debug {
namespace {

void add_site(const gdb::Value& from, std::vector<Site>& sites) {
  if (auto address = from["addr"].number())
    sites.push_back({*address, from["func"].text, from["file"].text, from["line"].text, {}, {}});
}

std::string with_double_dashes(const std::string& options) {
  std::string text;
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i] == '-' && (i == 0 || options[i - 1] == ' ')) text += '-';
    text += options[i];
  }
  return text;
}

}  // namespace

Image Images::image(ProcessId process) {
  return {Inferior(engine_, process).program(), auxiliary(process, AT_ENTRY), libraries(process)};
}

uint64_t Images::auxiliary(ProcessId process, uint64_t type) {
  std::vector<uint8_t> bytes = Inferior(engine_, process).auxv();
  for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= bytes.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.a_type == type) return entry.a_un.a_val;
  }
  return 0;
}

Loader::Read Images::reader(ProcessId process) {
  return [this, process](uint64_t address, void* to, size_t size) { return engine_.now().read(process, address, to, size); };
}

std::optional<Loader> Images::loader(ProcessId process) {
  return Loader::find(auxiliary(process, AT_BASE), reader(process));
}

std::string Images::libraries(ProcessId process) {
  auto found = loader(process);
  return found ? found->libraries(reader(process)) : std::string();
}

Result<std::vector<Site>> find_sites(gdb::Gdb& gdb, const std::string& location, const std::string& condition) {
  // `-function work -line 3` are options to MI, too, with one more dash.
  std::string where = location.starts_with('-') ? with_double_dashes(location) : gdb::c_string(location);
  gdb::Answer answer = TRY(gdb.run(fmt::format("-break-insert {}", where)));
  if (!answer.good) return fail("{}", answer.error);
  std::vector<Site> sites;
  const gdb::Value& point = answer.results["bkpt"];
  add_site(point, sites);
  for (const auto& [name, place] : point["locations"].items) add_site(place, sites);
  TRY(gdb.run(fmt::format("-break-delete {}", point["number"].text)));
  if (condition.empty()) return sites;
  bool by_name = !location.starts_with('-') && !location.starts_with('*');
  if (!by_name) {
    // Only of places with names gdb says how an expression is evaluated there.
    for (Site& site : sites) site.asked = condition;
    return sites;
  }
  Result<std::vector<gdb::Formula>> all = gdb::compile_formulas(gdb, condition, location);
  if (!all && !gdb::is_only_uncompiled(all.error().message)) return tl::unexpected<Error>(all.error());
  auto is_meant = [&](const Site& site) {
    return std::ranges::find(*all, site.address, &gdb::Formula::scope) != all->end();
  };
  // Of functions of the same name, those that have not what the condition names are not meant.
  if (all && all->size() < sites.size() && std::ranges::any_of(sites, is_meant))
    std::erase_if(sites, [&](const Site& site) { return !is_meant(site); });
  for (Site& site : sites) {
    if (!all) site.asked = condition;
    if (!all) continue;
    for (const gdb::Formula& one : *all)
      if (!site.condition || one.scope() == site.address) site.condition = one;
    if (site.condition->calls()) site.asked = condition;
  }
  return sites;
}

Result<std::vector<Site>> Images::find(ProcessId process, const std::string& location,
                                       const std::string& condition) {
  auto key = std::tuple(image(process), location, condition);
  if (auto known = found_.find(key); known != found_.end()) return known->second;
  gdb::Gdb* gdb = TRY(seats_.look_at(ThreadId(process, 1)));
  std::vector<Site> sites = TRY(find_sites(*gdb, location, condition));
  if (sites.empty()) return fail("there is no code at {}", location);
  return found_[key] = std::move(sites);
}

}  // namespace pastcone::debug
