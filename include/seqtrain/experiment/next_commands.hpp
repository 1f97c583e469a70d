#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/run/run_directory.hpp>

namespace seqtrain::experiment {

/// The shell words that start another program of this project.
struct OtherProgram {
  std::string command;
  std::string build = {};  ///< a command and `&&`, if the program is not built yet
};

/// Returns the program `name` beside the one that `started_as` started, or in the same tree of
/// CMake if that has it to build, else by its name alone. `seqtrain` has the programs as
/// subcommands.
inline OtherProgram other_program(std::string_view started_as, const std::string& name) {
  const std::filesystem::path here{started_as.substr(0, started_as.find(' '))};
  if (here.filename() == "seqtrain") {
    return {.command = cli::shell_word(here.string()) + " " + name};
  }
  if (!here.has_parent_path()) return {.command = name};
  const auto beside = here.parent_path() / name;
  const std::string command = cli::shell_word(beside.string());
  std::error_code none;
  if (std::filesystem::exists(beside, none)) return {.command = command};
  const auto tree = (here.parent_path() / "..").lexically_normal();
  if (!std::filesystem::exists(tree / "CMakeCache.txt", none)) return {.command = name};
  return {
      .command = command,
      .build = "cmake --build " + cli::shell_word(tree.string()) + " --target " + name + " && "};
}

/// Tells whether `predict` reads a place as it is.
inline bool is_one_plain_file(const std::string& place) {
  constexpr std::array<std::string_view, 4> endings{".jsonl", ".json", ".csv", ".tsv"};
  std::error_code none;
  return std::filesystem::is_regular_file(place, none) &&
         std::ranges::any_of(endings, [&](auto ending) { return place.ends_with(ending); });
}

/// Returns two lines about the model of a run: a command that labels the texts of `examples`, or
/// one text if `predict` cannot read them, and one that serves the model.
inline std::string commands_of_model(std::string_view started_as, const run::RunDirectory& run,
                                     const std::string& examples) {
  const std::string model = " --model " + cli::shell_word(run.path().string());
  const auto predict = other_program(started_as, "predict");
  const auto serve = other_program(started_as, "serve");
  const bool reads = is_one_plain_file(examples);
  return "Label texts: " + predict.build + (reads ? "" : R"(echo '{"text": "A text."}' | )") +
         predict.command + model + (reads ? " " + cli::shell_word(examples) : "") +
         "\nServe it:    " + serve.build + serve.command + model + " --port 8080\n";
}

/// Returns the line about the page of a finished run.
inline std::string page_line(const run::RunDirectory& run) {
  return "Its page:    " + run.report().string() + "\n";
}

/// Returns three lines about a finished run: its page and `commands_of_model`.
inline std::string next_commands(std::string_view started_as, const run::RunDirectory& run,
                                 const std::string& examples) {
  return page_line(run) + commands_of_model(started_as, run, examples);
}

}  // namespace seqtrain::experiment
