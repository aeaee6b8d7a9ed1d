// Replayed processes that debuggers take for their programs (stage::Takeover). The kernel says what a process
// is by what it executed, so it executes its program; before the first instruction the program is unmapped
// and the runtime mapped instead, which then begins as if it had been executed itself. No copies, no
// privileges but those that a debugger needs too.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pastcone/base/files.h"
#include "pastcone/record/hash_cache.h"
#include "pastcone/replay/session.h"
#include "pastcone/replay/tracee.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/recording.h"

namespace pastcone::replay {

class Takeovers {
 public:
  /// `first_fd`: the first of the descriptors that every process of the replay has. `remark` is told, once,
  /// why a process cannot be taken over; it then executes the runtime.
  static Result<Takeovers> create(const Recording& recording, const Path& runtime, int first_fd,
                                  std::function<void(const std::string&)> remark);

  /// Answers the request, if there is one, and does what is to be done.
  void serve(stage::Header& header, Session& session);

 private:
  Takeovers(const Recording& recording, MappedFile runtime, int first_fd, record::HashCache hashes,
            std::function<void(const std::string&)> remark)
      : recording_(&recording),
        runtime_(std::move(runtime)),
        runtime_fd_(first_fd + stage::kFdRuntime),
        hashes_(std::move(hashes)),
        remark_(std::move(remark)) {}

  Result<Path> find_program(uint32_t file);
  Result<Tracee> prepare(stage::Takeover& request);
  Status follow(stage::Header& header, Tracee& process);
  Status put_runtime(Tracee& process);
  Status execute_runtime(Tracee& process);
  void tell(const std::string& program, const Error& why);

  const Recording* recording_;
  MappedFile runtime_;
  int runtime_fd_;
  record::HashCache hashes_;
  std::function<void(const std::string&)> remark_;
  bool told_ = false;
};

}  // namespace pastcone::replay
