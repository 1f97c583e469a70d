#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/one_hot.hpp>
#include <seqtrain/data/random_splits.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/metrics/threshold_scores.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::languages {

/// Returns the file that a link of `Published::gather` stands for, so that messages name the user's
/// file; any other path as it is.
[[nodiscard]] inline std::filesystem::path linked_file(const std::filesystem::path& path) {
  if (!std::filesystem::is_symlink(path)) return path;
  const auto target = std::filesystem::read_symlink(path);
  return target.is_absolute() ? target : path;
}

/// The options of a published layout, a bucket with folders `pretrained/<lang>`: one data set with
/// a column for each label, language models that read forward and backward, and results under names
/// that flags set.
struct Published {
  std::string dataset_file = "labelled_dataset.csv";
  std::string model_file = "fastai_model.pth";
  std::string score_file = "label_scores.json";
  std::string text_column = "text";
  std::string label_delimiter = ",";
  std::string label_list = "categ1,categ2";
  std::string other_label = "other";
  std::string monitored_metric = "valid_loss";
  std::string pretrained = {};  ///< folder of a language model that replaces the language's
  double drop_mult = 0.3;
  double threshold = 0.3;
  double rate_ratio = 1;
  bool gradual_unfreezing = false;
  bool backwards = false;

  /// Returns the labels that the flags name.
  [[nodiscard]] std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (std::size_t begin = 0; begin <= label_list.size();) {
      const auto end = std::min(label_list.find(label_delimiter, begin), label_list.size());
      labels.push_back(label_list.substr(begin, end - begin));
      begin = end + label_delimiter.size();
    }
    return labels;
  }

  /// Returns the name in seqtrain of the monitored metric.
  [[nodiscard]] std::string metric() const {
    return monitored_metric == "valid_loss" ? "loss" : monitored_metric;
  }

  /// Adds the flags of a published layout to the help.
  void add_flags(cli::Flags& flags) {
    flags.add("model-filename", model_file, "name of the model in a published layout")
        .add("score-filename", score_file, "name of the file with the labels' scores")
        .add("dataset-filename", dataset_file, "name of a language's data set")
        .add("drop-mult", drop_mult, "factor on the classifier's dropout rates")
        .add_switch("bw", backwards, "read texts backwards, with a backward language model")
        .add("monitored-metric", monitored_metric,
             "metric that decides which epoch of a cycle is best")
        .add("prediction-threshold", threshold, "probability above which a label is predicted")
        .add("text-col", text_column, "column of the texts")
        .add("label-delim", label_delimiter, "character between the names in --label-list")
        .add("label-list", label_list, "columns of the labels")
        .add("other-label", other_label, "label of a text that has none of the labels")
        .add("pretrained", pretrained,
             "folder of a language model to use instead of the language's; may be gs://")
        .add_switch("gradual-unfreezing", gradual_unfreezing,
                    "train the classifier's groups of layers from the last one down, one more "
                    "in each epoch, before all of them")
        .add("rate-ratio", rate_ratio,
             "factor between the learning rates of neighbouring groups of layers");
  }

  /// Returns the first of these flags that was given, if any was.
  [[nodiscard]] static std::optional<std::string> first_given(const cli::Flags& flags) {
    for (const char* flag :
         {"model-filename", "score-filename", "dataset-filename", "drop-mult", "bw",
          "monitored-metric", "prediction-threshold", "text-col", "label-delim", "label-list",
          "other-label", "pretrained", "gradual-unfreezing", "rate-ratio"}) {
      if (flags.is_given(flag)) return flag;
    }
    return {};
  }

  void validate() const {
    using cli::require;
    const auto is_name = [](const std::string& name) {
      return !name.empty() && name.find('/') == std::string::npos;
    };
    require(is_name(model_file), "model-filename", "must be the name of a file");
    require(is_name(score_file), "score-filename", "must be the name of a file");
    require(is_name(dataset_file), "dataset-filename", "must be the name of a file");
    require(drop_mult >= 0 && drop_mult <= 2, "drop-mult", "must be 0 to 2");
    require(threshold >= 0 && threshold < 1, "prediction-threshold",
            "must be at least 0 and below 1");
    require(rate_ratio >= 1 && rate_ratio <= 100, "rate-ratio", "must be 1 to 100");
    require(label_delimiter.size() == 1, "label-delim", "must be a character");
    const std::array known{"valid_loss", "accuracy", "macro_f1", "micro_f1"};
    require(std::ranges::count(known, monitored_metric) > 0 &&
                (monitored_metric != "micro_f1" || labels().size() > 1),
            "monitored-metric",
            "is unknown: use valid_loss, accuracy, macro_f1 or, with several "
            "labels, micro_f1");
  }

  [[nodiscard]] train::Pairs settings() const {
    return {{"label-list", label_list},
            {"monitored-metric", monitored_metric},
            {"drop-mult", std::to_string(drop_mult)},
            {"rate-ratio", std::to_string(rate_ratio)},
            {"gradual-unfreezing", gradual_unfreezing ? "true" : "false"},
            {"bw", backwards ? "true" : "false"}};
  }

  /// Copies the files of a language's folder that a training needs to `to`, under the names of the
  /// other layout. Throws `InputError` if a file of the language model is missing; English may have
  /// no language model.
  void gather(const std::filesystem::path& from, const std::filesystem::path& to,
              bool may_be_fresh) const {
    const auto folder = pretrained.empty() ? from / (backwards ? "backward" : "forward")
                                           : std::filesystem::path{pretrained};
    const bool fresh = may_be_fresh && pretrained.empty() && !std::filesystem::exists(folder);
    const auto link = [&](const std::filesystem::path& file, const char* name, bool needed) {
      if (std::filesystem::exists(file)) {
        return std::filesystem::create_symlink(std::filesystem::absolute(file), to / name);
      }
      if (needed) {
        throw InputError{
            "is missing",
            {.object = file.string()},
            "a folder with a language model has weights.pth, vocab.pkl and config.json"};
      }
    };
    std::filesystem::create_directories(to);
    link(folder / "weights.pth", "pretrained.pth", !fresh);
    link(folder / "vocab.pkl", "vocabulary.pkl", !fresh);
    link(folder / "config.json", "model.json", !fresh && !may_be_fresh);
    link(from / "spm/spm.model", "subwords.model", !may_be_fresh);
  }

  /// The texts of `train.csv` and `valid.csv`, from which the job counts its vocabulary.
  static constexpr const char* counted_file = "train_and_valid.csv";

  /// Splits the data set in `from` and writes `train.csv`, `valid.csv`, both together and
  /// `test.csv` to `to`. It chooses the rows that the original job chooses with pandas,
  /// scikit-learn and fastai. Returns the labels.
  [[nodiscard]] data::Labels split(const std::filesystem::path& from,
                                   const std::filesystem::path& to, const log::Log& log) const {
    const auto asked = labels();
    const MappedFile file{from / dataset_file};
    const auto table =
        data::one_hot::read({.text = file.text(), .name = (from / dataset_file).string()},
                            {.text_column = text_column, .labels = asked, .other = other_label});
    if (table.left_out > 0) {
      log.warning(std::to_string(table.left_out) + " rows have a missing value and are left out");
    }
    if (table.rows.size() < fewest_rows) {
      throw InputError{"has " + std::to_string(table.rows.size()) +
                           " rows without missing values; the training, the validation and the "
                           "test part need at least " +
                           std::to_string(fewest_rows),
                       {.object = (from / dataset_file).string()}};
    }
    const auto test = data::split_like_sklearn(table.rows.size(), 0.25, 42);
    const auto valid = data::split_like_fastai(test.train.size(), 0.2, 42);
    const auto of_rest = [&test](std::vector<std::size_t> rows) {
      for (std::size_t& row : rows) row = test.train[row];
      return rows;
    };
    const bool several = asked.size() > 1;
    std::filesystem::create_directories(to);
    data::one_hot::write_labelled_csv(to / "train.csv", table, of_rest(valid.train), several);
    data::one_hot::write_labelled_csv(to / "valid.csv", table, of_rest(valid.held_out), several);
    data::one_hot::write_labelled_csv(to / counted_file, table, test.train, several);
    data::one_hot::write_labelled_csv(to / "test.csv", table, test.held_out, several);
    return data::Labels{table.names(asked),
                        several ? ProblemType::multi_label : ProblemType::single_label};
  }

  /// Writes the scores of the labels that the flags name. A score that is undefined is null, and
  /// the log says why.
  void save_scores(const std::filesystem::path& file, const data::Labels& all,
                   const std::vector<metrics::BinaryScores>& scores, const log::Log& log) const {
    json::Writer out;
    out.begin_object();
    for (const auto& label : labels()) {
      const auto& of_label = scores.at(static_cast<std::size_t>(*all.find(label)));
      const auto add = [&](const char* name, std::optional<double> value, const char* reason) {
        out.key(name);
        value ? out.value(*value) : out.null();
        if (!value) log.warning(std::string{name} + " of " + label + " is undefined: " + reason);
      };
      out.key(label).begin_object();
      add("Accuracy", of_label.accuracy, "");
      add("Precision", of_label.precision, "no text of the test part was predicted to have it");
      add("Recall", of_label.recall, "no text of the test part has it");
      out.end_object();
    }
    const std::string text = out.end_object().text();
    log.info(text);
    write_file_atomically(file, text);
  }

 private:
  /// A quarter of 7 rows, rounded up, is a test part that leaves 5, of which a fifth is one.
  static constexpr std::size_t fewest_rows = 7;
};

}  // namespace seqtrain::languages
