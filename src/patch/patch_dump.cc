// patch_dump [--traps] [--all] FILE [OUTPUT]: what patching makes of FILE's sites. --all lists those that
// became jumps too. For development.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/patch/patch.h"

namespace pastcone::patch {
namespace {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kSyscall:
      return "syscall";
    case Kind::kRdtsc:
      return "rdtsc";
    case Kind::kRdtscp:
      return "rdtscp";
    case Kind::kRdrand:
      return "rdrand";
    case Kind::kRdseed:
      return "rdseed";
  }
  return "?";
}

std::string outcome(const Site& site) {
  if (site.patched) return "patched";
  return fmt::format("{}: {}", site.trapped ? "trapped" : "left", site.reason);
}

void print(const PatchReport& report, bool all) {
  std::map<std::string, size_t> counts;
  for (const Site& site : report.sites) {
    ++counts[fmt::format("{:8} {}", kind_name(site.kind), outcome(site))];
    if (!all && site.patched) continue;
    fmt::print("{:#10x}  {:8} {}\n", site.address, kind_name(site.kind), outcome(site));
  }
  for (const std::string& name : report.not_hooked) fmt::print("not hooked: {}\n", name);
  for (const std::string& name : report.left_out) fmt::print("left out: {}\n", name);
  if (!report.hooked.empty()) fmt::print("{} functions hooked\n", report.hooked.size());
  for (const auto& [what, count] : counts) fmt::print("{:6} {}\n", count, what);
  fmt::print("{} sites: {} patched, {} trapped, {} left; {} patterns outside known functions\n",
             report.sites.size(), report.patched, report.trapped, report.left, report.unexamined);
}

Result<PatchReport> examine(const Path& file, PatchOptions options) {
  std::string contents = TRY(read_file(file));
  return TRY(patch_bytes(as_bytes(contents), options)).report;
}

int run(const std::vector<std::string_view>& arguments) {
  PatchOptions options;
  bool all = false;
  std::vector<std::string> files;
  for (std::string_view argument : arguments) {
    if (argument == "--traps")
      options.traps = true;
    else if (argument == "--hooks")
      options.hooks = true;
    else if (argument == "--all")
      all = true;
    else
      files.emplace_back(argument);
  }
  if (files.empty() || files.size() > 2) {
    fmt::print(stderr, "usage: patch_dump [--traps] [--hooks] [--all] FILE [OUTPUT]\n");
    return 2;
  }
  auto start = std::chrono::steady_clock::now();
  auto report = files.size() == 2 ? patch_file(files[0], files[1], options) : examine(files[0], options);
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (!report) {
    fmt::print(stderr, "patch_dump: {}\n", report.error().message);
    return 1;
  }
  print(*report, all);
  fmt::print("{:.1f} ms\n", took.count());
  return 0;
}

}  // namespace
}  // namespace pastcone::patch

int main(int argc, char** argv) { return pastcone::patch::run({argv + 1, argv + argc}); }
