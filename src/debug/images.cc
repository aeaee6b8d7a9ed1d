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

/// As MI has them: in full, and with one more dash.
std::string as_mi_options(const std::string& options) {
  constexpr std::string_view kNames[] = {"function", "label", "line", "qualified", "source"};
  std::string text;
  for (size_t i = 0; i < options.size(); ++i) {
    bool begins = options[i] == '-' && (i == 0 || options[i - 1] == ' ');
    if (begins) {
      size_t end = std::min(options.find(' ', i), options.size());
      std::string name = options.substr(i + 1, end - i - 1);
      auto meant = [&](std::string_view each) { return !name.empty() && each.starts_with(name); };
      if (std::ranges::count_if(kNames, meant) == 1) name = *std::ranges::find_if(kNames, meant);
      text += "--" + name;
      i = end - 1;
    } else {
      text += options[i];
    }
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

/// Of places of which some have not what the condition names, those that have it.
std::vector<gdb::Formula> compile_where_known(gdb::Gdb& gdb, const std::string& condition, const std::vector<Site>& sites) {
  std::vector<gdb::Formula> all;
  for (const Site& site : sites) {
    if (site.line.empty()) continue;  // nothing is known there
    auto here = gdb::compile_formulas(gdb, condition, fmt::format("{}:{}", site.file, site.line));
    if (!here) continue;
    for (gdb::Formula& one : *here)
      if (one.scope() == site.address) all.push_back(std::move(one));
  }
  return all;
}

Result<std::vector<Site>> find_sites(gdb::Gdb& gdb, const std::string& location, const std::string& condition) {
  std::string where = location.starts_with('-') ? as_mi_options(location) : gdb::c_string(location);
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
  if (!all && !gdb::is_only_uncompiled(all.error().message)) {
    // Names of operators gdb may not take here, depending on the language that it is in just now.
    bool helps = sites.size() > 1 || all.error().message.starts_with("Function ");
    std::vector<gdb::Formula> some = helps ? compile_where_known(gdb, condition, sites) : std::vector<gdb::Formula>();
    if (some.empty()) return tl::unexpected<Error>(all.error());
    all = std::move(some);
  }
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
