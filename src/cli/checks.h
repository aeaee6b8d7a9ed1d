// What recording and replaying need of a machine, each tried out rather than guessed. For `doctor`, and for
// whoever fails and wants to say why.
#pragma once

#include <string>
#include <vector>

namespace pastcone::cli {

struct Check {
  enum class Verdict {
    kFine,
    kLimited,  ///< it works, but something will not; `remedy`
    kMissing,  ///< recording is not possible; `remedy`
  };
  std::string name;
  Verdict verdict = Verdict::kFine;
  std::string finding;
  std::string remedy;  ///< empty if all is fine
};

/// All checks, in the order in which they should be shown. Takes a few milliseconds, changes nothing.
std::vector<Check> check_machine();

}  // namespace pastcone::cli
