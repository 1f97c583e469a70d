// Predicts encoded texts for compare.py, which compares this program with other engines.
//
// predict --model DIR --texts FILE --precision NAME --threads N
//
// A line of FILE is a text: the number of ids with token type 0, then the ids. Commands come on
// stdin, one a line, and each is answered by one line. `logits` returns the logits of all texts.
// `batches SIZE` returns the seconds for all texts in batches of texts of similar length. `singles`
// returns the seconds for each text alone.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "support/arguments.hpp"

namespace seqtrain::bench {
namespace {

using predict::Encoded;

std::vector<Encoded> read_texts(const std::string& file) {
  std::vector<Encoded> texts;
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers{line};
    Encoded text;
    numbers >> text.first_segment;
    for (std::int32_t id = 0; numbers >> id;) text.input_ids.push_back(id);
    texts.push_back(std::move(text));
  }
  return texts;
}

double seconds_of(const model::AnyPredictor& predictor, std::span<const Encoded> texts) {
  const auto begin = std::chrono::steady_clock::now();
  (void)predictor.predict(texts);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void answer(const std::string& command, const model::AnyPredictor& predictor,
            const std::vector<Encoded>& texts) {
  std::istringstream words{command};
  std::string name;
  std::size_t size = 1;
  words >> name >> size;
  if (name == "logits") {
    for (const Encoded& text : texts) {
      const metrics::Logits logits = predictor.predict({&text, 1});
      for (Eigen::Index i = 0; i < logits.size(); ++i) std::cout << logits.data()[i] << ' ';
    }
  } else if (name == "batches") {
    auto sorted = texts;
    std::ranges::stable_sort(sorted, {}, [](const Encoded& text) { return text.input_ids.size(); });
    double seconds = 0;
    for (std::size_t i = 0; i < sorted.size(); i += size) {
      seconds +=
          seconds_of(predictor, std::span{sorted}.subspan(i, std::min(size, sorted.size() - i)));
    }
    std::cout << seconds;
  } else {
    for (const Encoded& text : texts) std::cout << seconds_of(predictor, {&text, 1}) << ' ';
  }
  std::cout << std::endl;
}

}  // namespace
}  // namespace seqtrain::bench

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    tensor::set_threads(std::stoi(bench::take_argument(argc, argv, "threads", "1")));
    const model::AnyPredictor predictor{bench::take_argument(argc, argv, "model", ""),
                                        {.precision = model::precision_named(bench::take_argument(
                                             argc, argv, "precision", "auto"))}};
    const auto texts = bench::read_texts(bench::take_argument(argc, argv, "texts", ""));
    for (std::string command; std::getline(std::cin, command);) {
      bench::answer(command, predictor, texts);
    }
  });
}
