#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

namespace seqtrain::tests {

/// The result of a program.
struct Ended {
  int code = -1;
  std::string output;  ///< stdout and stderr together
};

/// Runs a command by a shell.
inline Ended run_command(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"cannot run " + command};
  Ended ended;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    ended.output.append(part.data(), size);
  }
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

/// Runs one of the examples with arguments in the syntax of a shell.
inline Ended run_example(const std::string& name, const std::string& arguments) {
  return run_command(std::string{SEQTRAIN_EXAMPLES_DIR} + "/" + name + " " + arguments);
}

/// Runs one of the examples and sends it SIGTERM after that time.
inline Ended run_example_for(double seconds, const std::string& name,
                             const std::string& arguments) {
  return run_command("timeout --signal=TERM --preserve-status " + std::to_string(seconds) + " " +
                     SEQTRAIN_EXAMPLES_DIR "/" + name + " " + arguments);
}

/// Returns the default checkpoint, which `make setup` fetches. Tests that need it are skipped if it
/// is missing.
inline std::filesystem::path default_checkpoint() {
  return std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../checkpoints/all-MiniLM-L6-v2";
}

}  // namespace seqtrain::tests

/// Skips a test if the default checkpoint has not been fetched.
#define SEQTRAIN_NEEDS_CHECKPOINT()                                    \
  if (!std::filesystem::exists(seqtrain::tests::default_checkpoint())) \
  GTEST_SKIP() << "the default checkpoint is not here: make mnli fetches it"
