#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>

namespace seqtrain::experiment {

/// Returns for each of a teacher's labels the id that the run gives it. Throws `InputError` unless
/// both have the same names, in any order.
inline std::vector<std::size_t> ids_of_labels(const std::vector<std::string>& teacher,
                                              const data::Labels& labels,
                                              const std::string& place) {
  std::vector<std::size_t> ids;
  for (const std::string& name : teacher) {
    const auto known = data::find_name(labels.names(), name).value_or(name);
    ids.push_back(static_cast<std::size_t>(std::ranges::find(labels.names(), known) -
                                           labels.names().begin()));
  }
  auto sorted = ids;
  std::ranges::sort(sorted);
  bool same = ids.size() == labels.size();
  for (std::size_t i = 0; i < sorted.size(); ++i) same &= sorted[i] == i;
  if (same) return ids;
  throw InputError{"the teacher's labels are " + joined(teacher) + ", the run's " + labels.listed(),
                   {.object = place},
                   "take a teacher with the run's labels, or name the teacher's by --labels"};
}

/// Reads the answers that `predict` writes.
class AnswerReader {
 public:
  AnswerReader(const data::Labels& labels, std::string file)
      : labels_{&labels}, file_{std::move(file)} {}

  /// Returns the logits [answers, labels] in the order of the run's labels. If an answer has none,
  /// they are the logarithms of its scores. Throws `InputError` with the line.
  std::vector<float> read(std::string_view text) {
    std::vector<float> logits;
    for (line_ = 1; !text.empty(); ++line_) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      simdjson::dom::element answer;
      if (parser_.parse(text.data(), end + 1).get(answer) != simdjson::SUCCESS) refuse();
      text.remove_prefix(end + 1);
      logits.resize(logits.size() + labels_->size());
      read(answer, logits.data() + logits.size() - labels_->size());
    }
    return logits;
  }

 private:
  [[noreturn]] void refuse(
      const std::string& problem = "is not an answer of predict with one label and all scores",
      const std::string& remedy = "write the file by predict, without --top-k") const {
    throw InputError{problem, {.object = file_, .line = line_}, remedy};
  }

  void read(simdjson::dom::element answer, float* to) {
    if (std::string_view error; answer["error"].get(error) == simdjson::SUCCESS) {
      refuse("has no scores: " + std::string{error}, "mend that record, and predict again");
    }
    std::string_view label;
    simdjson::dom::object scores;
    const bool fits = answer["label"].get(label) == simdjson::SUCCESS &&
                      answer["scores"].get(scores) == simdjson::SUCCESS;
    if (!fits) refuse();
    std::vector<double> numbers = by_label(scores);
    if (simdjson::dom::array logits; answer["logits"].get(logits) == simdjson::SUCCESS) {
      if (logits.size() != numbers.size()) refuse();
      std::ranges::transform(logits, numbers.begin(),
                             [this](const auto item) { return number(item); });
    } else {
      constexpr double least = 1e-30;
      for (double& score : numbers) score = std::log(std::max(score, least));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) to[ids_[i]] = static_cast<float>(numbers[i]);
  }

  /// Returns the scores. All lines have the same labels in the same order.
  std::vector<double> by_label(simdjson::dom::object scores) {
    std::vector<double> numbers;
    std::vector<std::string> names;
    for (const auto& [name, score] : scores) {
      names.emplace_back(name);
      numbers.push_back(number(score));
    }
    if (line_ == 1) ids_ = ids_of_labels(names_ = names, *labels_, file_);
    if (names != names_) refuse("has other labels than the first line");
    return numbers;
  }

  [[nodiscard]] double number(simdjson::dom::element item) const {
    double number = 0;
    if (item.get(number) != simdjson::SUCCESS || !std::isfinite(static_cast<float>(number))) {
      refuse();
    }
    return number;
  }

  const data::Labels* labels_;
  std::string file_;
  std::int64_t line_ = 1;
  simdjson::dom::parser parser_;
  std::vector<std::string> names_;
  std::vector<std::size_t> ids_;  ///< the run's id of each of the names
};

}  // namespace seqtrain::experiment
