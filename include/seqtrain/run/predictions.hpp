#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/run/kept_predictions.hpp>

namespace seqtrain::run {

/// The predictions for a split, for `predictions.jsonl`.
struct PredictedSplit {
  std::string name;  ///< "dev", "test"
  const Predictions* predictions = nullptr;
  /// The number of each row's record in its file, counted from 1; if empty, the row's index plus 1.
  std::vector<std::int64_t> records = {};
};

namespace detail {

inline void append_names(json::Writer& out, std::string_view key,
                         const std::vector<std::size_t>& ids, const predict::Task& task) {
  const bool many = task.problem_type == ProblemType::multi_label;
  out.key(key);
  if (!many && ids.empty()) return void(out.null());
  if (many) out.begin_array();
  for (const std::size_t id : ids) out.value(std::string_view{task.labels[id]});
  if (many) out.end_array();
}

/// Appends numbers of several targets as an object by their names.
inline void append_values(json::Writer& out, std::string_view key, std::span<const float> values,
                          const predict::Task& task) {
  out.key(key).begin_object();
  for (std::size_t k = 0; k < values.size(); ++k) {
    out.member(predict::label_name(task.labels, k), values[k]);
  }
  out.end_object();
}

inline std::string prediction_line(const PredictedSplit& split, std::size_t i,
                                   const predict::Task& task) {
  const Predictions& predictions = *split.predictions;
  const auto row = static_cast<std::size_t>(predictions.rows[i]);
  json::Writer out;
  out.begin_object().member("split", std::string_view{split.name});
  out.member("row", row < split.records.size() ? split.records[row] : predictions.rows[i] + 1);
  const auto logits = predictions.logits_of(i);
  if (predict::has_several_values(task)) {
    predictions.labelled(i) ? append_values(out, "gold", predictions.targets_of(i), task)
                            : void(out.key("gold").null());
    metrics::all_finite(logits) ? append_values(out, "predicted", logits, task)
                                : void(out.key("predicted").null());
  } else if (task.problem_type == ProblemType::regression) {
    out.member("gold", predictions.targets_of(i)[0]).member("predicted", logits[0]);
  } else {
    append_names(out, "gold", predictions.gold_labels(i), task);
    if (!metrics::all_finite(logits)) {  // no label is the model's
      return out.key("predicted")
                 .null()
                 .key("scores")
                 .null()
                 .key("loss")
                 .null()
                 .end_object()
                 .text() +
             "\n";
    }
    append_names(out, "predicted", predict::chosen(logits, task), task);
    out.key("scores").begin_array();
    for (const double score : predict::scores(logits, task)) out.value(static_cast<float>(score));
    out.end_array();
  }
  return out.member("loss", static_cast<float>(predictions.loss(i))).end_object().text() + "\n";
}

}  // namespace detail

/// Writes `predictions.jsonl`, one object a line for each example: `{"split": "dev", "row": 1,
/// "gold": "neutral", "predicted": "entailment", "scores": [0.7, 0.2, 0.1], "loss": 1.61}`. Scores
/// are in the order of the labels. Multi-label classification has lists of labels; regression has
/// numbers and no scores, or objects of numbers by the names of several targets. If a logit is not
/// finite, the prediction, the scores and the loss are null. The file appears whole or not at all.
inline void write_predictions(const std::filesystem::path& file,
                              std::span<const PredictedSplit> splits, const predict::Task& task) {
  AtomicFile out{file};
  for (const auto& split : splits) {
    for (std::size_t i = 0; i < split.predictions->size(); ++i) {
      out.write(detail::prediction_line(split, i, task));
    }
  }
  out.commit();
}

/// A line of `predictions.jsonl`.
struct ReadPrediction {
  std::int64_t row = 0;
  std::string gold = {};  ///< as JSON writes it, such as `"neutral"` or `["a","b"]`
  std::string predicted = {};
  std::vector<double> scores = {};  ///< has the order of the labels; may be empty
  double loss = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] bool right() const { return gold == predicted; }
};

/// Returns the lines of a split. Throws `InputError` with the file and the line if a line is not a
/// prediction.
[[nodiscard]] inline std::vector<ReadPrediction> read_predictions(std::string_view text,
                                                                  std::string_view split,
                                                                  const std::string& file) {
  std::vector<ReadPrediction> result;
  simdjson::dom::parser parser;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    simdjson::dom::element object;
    std::string_view name;
    ReadPrediction read;
    simdjson::dom::element gold, predicted;
    const bool good = parser.parse(line.data(), line.size()).get(object) == simdjson::SUCCESS &&
                      object["split"].get(name) == simdjson::SUCCESS &&
                      object["row"].get(read.row) == simdjson::SUCCESS &&
                      object["gold"].get(gold) == simdjson::SUCCESS &&
                      object["predicted"].get(predicted) == simdjson::SUCCESS;
    if (!good) throw InputError{"not a prediction", {.object = file, .line = number}};
    if (name != split) continue;
    read.gold = simdjson::minify(gold);
    read.predicted = simdjson::minify(predicted);
    simdjson::dom::array scores;
    if (object["scores"].get(scores) == simdjson::SUCCESS) {
      for (const auto score : scores) {
        double value = 0;
        if (score.get(value) == simdjson::SUCCESS) read.scores.push_back(value);
      }
    }
    if (object["loss"].get(read.loss) != simdjson::SUCCESS) {
      read.loss = std::numeric_limits<double>::quiet_NaN();
    }
    result.push_back(std::move(read));
  }
  return result;
}

}  // namespace seqtrain::run
