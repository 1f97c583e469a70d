/// Writes made-up runs with their pages for browser_test.py, each into a directory of its own below
/// the argument.
#include <filesystem>
#include <map>
#include <string>

#include "support/made_page.hpp"

int main(int argc, char** argv) {
  using seqtrain::ProblemType;
  using seqtrain::tests::MadePage;
  if (argc != 2) return 2;
  const std::filesystem::path directory{argv[1]};
  const std::map<std::string, MadePage> pages{
      {"ordinary", {.calibrated = true}},
      {"hostile", {.texts = seqtrain::tests::hostile_texts()}},
      {"one_epoch", {.epochs = 1}},
      {"no_dev", {.dev = false}},
      {"regression", {.problem_type = ProblemType::regression, .labels = 1}},
      {"targets", {.problem_type = ProblemType::regression, .labels = 3}},
      {"several_labels",
       {.problem_type = ProblemType::multi_label, .labels = 4, .calibrated = true}},
      {"many_labels", {.labels = 1000, .examples = 3000, .steps = 4}},
      {"many_steps", {.steps = 100'000}}};
  for (const auto& [name, page] : pages) page.write(directory / name);
}
