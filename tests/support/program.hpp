#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#ifdef SEQTRAIN_PROGRAMS_ARE_LINKED
int baseline_main(int, char**);
int imdb_main(int, char**);
int languages_main(int, char**);
int mnli_main(int, char**);
int predict_main(int, char**);
#endif

namespace seqtrain::tests {

/// The result of a program.
struct Ended {
  int code = -1;
  std::string output;  ///< stdout and stderr together
};

namespace detail {

inline std::string read_all(FILE* pipe) {
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), size);
  }
  return text;
}

inline int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

using Main = int (*)(int, char**);

/// Returns the main function of a program that is linked to the tests, or null.
inline Main linked_main([[maybe_unused]] std::string_view name) {
#ifdef SEQTRAIN_PROGRAMS_ARE_LINKED
  if (name == "baseline") return &baseline_main;
  if (name == "imdb") return &imdb_main;
  if (name == "languages") return &languages_main;
  if (name == "mnli") return &mnli_main;
  if (name == "predict") return &predict_main;
#endif
  return nullptr;
}

/// Calls a main function in a child process.
inline Ended run_in_child(Main main, const wordexp_t& words) {
  std::fflush(nullptr);
  std::cout << std::flush;
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error{"cannot make a pipe"};
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error{"cannot make a process"};
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    const int code = main(static_cast<int>(words.we_wordc), words.we_wordv);
    std::cout << std::flush;
    std::fflush(nullptr);
    ::_exit(code);  // without the destructors of the tests' objects
  }
  ::close(ends[1]);
  FILE* const pipe = ::fdopen(ends[0], "r");
  Ended ended{.output = read_all(pipe)};
  std::fclose(pipe);
  int status = 0;
  ::waitpid(child, &status, 0);
  ended.code = exit_code(status);
  return ended;
}

}  // namespace detail

/// Runs a command by a shell.
inline Ended run_command(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"cannot run " + command};
  Ended ended{.output = detail::read_all(pipe)};
  ended.code = detail::exit_code(::pclose(pipe));
  return ended;
}

/// Runs one of the examples with arguments in the syntax of a shell. A program that is linked to
/// the tests runs in a copy of this process, because LibTorch takes half a second to load.
inline Ended run_example(const std::string& name, const std::string& arguments) {
  const std::string command = std::string{SEQTRAIN_EXAMPLES_DIR} + "/" + name + " " + arguments;
  wordexp_t words{};
  if (const auto main = detail::linked_main(name);
      main && ::wordexp(command.c_str(), &words, WRDE_NOCMD) == 0) {
    const Ended ended = detail::run_in_child(main, words);
    ::wordfree(&words);
    return ended;
  }
  return run_command(command);
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
