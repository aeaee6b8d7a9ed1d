#include "pastcone/replay/likely_reason.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pastcone::replay {
namespace {

using stage::Cause;

constexpr size_t kNamed = 4;  // of a longer list
constexpr const char* kRace =
    "a data race, or threads that synchronise by atomic variables or otherwise than through locks: look for it "
    "with -fsanitize=thread, or record again without --threads=parallel";

/// Of a difference in what the program computed: an input that was not recorded, in order of how often it is
/// that.
std::string unrecorded_input(const Facts& facts) {
  if (!facts.abilities.empty()) {
    std::vector<std::string> some(
        facts.abilities.begin(),
        facts.abilities.begin() + static_cast<ptrdiff_t>(std::min(facts.abilities.size(), kNamed)));
    return fmt::format(
        "this processor can do what the recorded one could not ({}{}), and programs that look choose other "
        "code for it",
        fmt::join(some, " "), facts.abilities.size() > kNamed ? " …" : "");
  }
  if (facts.parallel && facts.has_threads) return kRace;
  if (facts.generated_code) {
    return "the program generates code, in which rdtsc, rdrand and cpuid are not recorded";
  }
  if (facts.shares_memory) {
    std::string reason =
        "it shares memory with others, who may have changed it in a way that is not recorded";
    return facts.parallel ? reason + ": record again without --threads=parallel" : reason;
  }
  if (facts.has_threads) {
    return "an input that pastcone does not record, or a race between threads that it does not order";
  }
  if (facts.parallel) {
    return "an input that pastcone does not record, or what other threads of its parent changed while it was "
           "forked: record again without --threads=parallel";
  }
  return "an input that pastcone does not record";
}

}  // namespace

std::string likely_reason(const Facts& facts) {
  std::string version = facts.other_version ? "it was recorded by another version of pastcone" : "";
  switch (facts.cause) {
    case Cause::kFlow:
    case Cause::kData:
      return version.empty() ? unrecorded_input(facts) : version;
    case Cause::kMemory:
      return version.empty() ? "memory is laid out otherwise here, by another kernel or other limits"
                             : version;
    case Cause::kMachine:
      return "this machine lacks something now: memory, disk space, descriptors or processes";
    case Cause::kWait:
      if (facts.parallel) return kRace;
      return "the one it waits for went another way without a difference that shows";
    case Cause::kOrder:
      return kRace;
    case Cause::kInterrupt:
      return "the loop it was interrupted in takes too long to be followed here, or depends on something that is "
             "not compared, such as vector registers";
    case Cause::kEnd:
      return facts.killed ? "somebody killed it, or this machine is out of memory"
                          : "a fault in pastcone itself";
  }
  return {};
}

}  // namespace pastcone::replay
