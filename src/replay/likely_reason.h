// Why a replay probably diverged: a few rules over what is known for certain. A guess, and called one.
#pragma once

#include <string>
#include <vector>

#include "pastcone/stage/layout.h"

namespace pastcone::replay {

struct Facts {
  stage::Cause cause = stage::Cause::kFlow;
  bool generated_code = false;           ///< it executes memory that comes from no file
  bool shares_memory = false;            ///< it has memory that other processes can write
  bool has_threads = false;              ///< more than one
  bool parallel = false;                 ///< its threads were recorded in parallel
  bool other_version = false;            ///< recorded by another pastcone
  std::vector<std::string> abilities{};  ///< of this processor, that the recorded one had not
  bool killed = false;                   ///< ended from outside
};

/// A clause without a full stop; empty if there is nothing to say.
std::string likely_reason(const Facts& facts);

}  // namespace pastcone::replay
