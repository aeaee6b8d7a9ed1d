// For tests: commands as a user types them, with a data directory of their own.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pastcone/cli/program.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::cli_testing {

struct Ran {
  int status;
  std::string out, error;
};

class Commands : public ::testing::Test {
 protected:
  Commands() { setenv("XDG_DATA_HOME", directory_.path().c_str(), 1); }
  ~Commands() override { unsetenv("XDG_DATA_HOME"); }

  Path place(const char* name) const { return directory_.path() / "pastcone" / name; }

  virtual void add_commands(cli::Program& program) const = 0;

  Ran run(std::vector<const char*> arguments) const {
    arguments.insert(arguments.begin(), "pastcone");
    cli::Program program;
    add_commands(program);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    int status = program.run(static_cast<int>(arguments.size()), arguments.data());
    std::string out = ::testing::internal::GetCapturedStdout();
    return {status, out, ::testing::internal::GetCapturedStderr()};
  }

  nlohmann::json json(std::vector<const char*> arguments) const {
    arguments.push_back("--json");
    return nlohmann::json::parse(run(std::move(arguments)).out);
  }

 protected:
  trace_testing::TemporaryDirectory directory_;
};

}  // namespace pastcone::cli_testing
