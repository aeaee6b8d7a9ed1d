// The payload of an exec event: which program image begins, with which arguments, environment and auxiliary
// vector.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/format.h"

namespace pastcone {

struct ProgramImage {
  format::ExecInfo info{};  ///< its counts are those of the vectors below
  std::string path;         ///< of the program
  std::string name;         ///< it was executed by (AT_EXECFN)
  std::string cwd;
  std::vector<std::string> arguments, environment;
  std::vector<std::pair<uint64_t, uint64_t>> auxiliary;

  static Result<ProgramImage> parse(ByteView payload);
  Bytes to_payload() const;
};

}  // namespace pastcone
