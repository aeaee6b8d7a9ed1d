#include "pastcone/debug/inlined.h"

#include <cstdlib>

namespace pastcone::debug {
namespace {

/// How many functions are inlined at the instruction where gdb is.
constexpr const char* kCount = "python print(len(_pastcone_functions()) - 1)";

Result<int> number(gdb::Gdb& gdb, const std::string& command) {
  gdb::Answer answer = TRY(gdb.console(command));
  return answer.good ? std::atoi(answer.console.c_str()) : 0;
}

}  // namespace

Status show_inlined(gdb::Gdb& gdb, Inferior& inferior, const std::string& function) {
  if (TRY(number(gdb, kCount)) <= 0) return {};
  inferior.hold(true);
  Result<gdb::Answer> stopped = gdb.console("continue");  // now all that begin here are hidden
  Result<int> hidden =
      number(gdb, fmt::format("python print(_pastcone_hidden({}))", gdb::c_string(function)));
  // It is only in gdb's view that these move it.
  for (int i = 0; stopped && hidden && i < *hidden; ++i) stopped = gdb.console("step");
  inferior.hold(false);
  if (!hidden) return tl::unexpected<Error>(hidden.error());
  return stopped ? Status() : tl::unexpected<Error>(stopped.error());
}

}  // namespace pastcone::debug
