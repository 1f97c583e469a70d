#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/data/csv_cell.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/folds.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/fold_results.hpp>
#include <seqtrain/experiment/no_tokens.hpp>
#include <seqtrain/experiment/stages.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::languages {

/// A cross-validation of a language's job: train.csv is divided into folds, and for each of them a
/// job in a folder of its own trains on the others, chooses by valid.csv, and is evaluated on the
/// fold. test.csv is not read. No model is left.
template <class Framework>
class FoldsOfJob {
 public:
  /// Reads the labels and chooses the folds. Throws `InputError` if a label has too few texts. The
  /// job must outlive this object.
  FoldsOfJob(const Job& job, std::int64_t count) : job_{job}, file_{job.data / "train.csv"} {
    const data::EncodeFileOptions options{.read = read(),
                                          .workers = static_cast<std::size_t>(job.threads)};
    const auto set = data::encode_file(file_, experiment::NoTokens{}, job.labels, options).set;
    check(set, count);
    rows_ = data::folds_by_label(set.arrays().labels, static_cast<std::size_t>(count),
                                 static_cast<std::uint64_t>(job.seed));
    data::visit_examples(file_, read(), job.labels, [&](const auto&, const data::Example& example) {
      has_pairs_ |= example.text_pair.has_value();
    });
  }

  /// Trains the jobs that are not finished, and writes the results of all into the job's directory.
  void operator()() {
    auto settings = job_.settings();
    settings.emplace_back("folds", std::to_string(rows_.size()));
    const experiment::Stages claim{job_.work, settings};
    for (std::size_t fold = 1; fold <= rows_.size(); ++fold) {
      if (job_.stop.stop_requested()) throw train::Stopped{"stopped between two folds"};
      const auto folder = job_.work / ("fold-" + std::to_string(fold));
      const bool finished = std::filesystem::exists(folder / "metrics.json");
      job_.log.info("Fold " + std::to_string(fold) + " of " + std::to_string(rows_.size()) +
                    (finished ? " is finished: " + folder.string() : ""));
      if (!finished) train(fold, folder);
      keep_results(folder);
    }
    experiment::FoldResults results{{.directory = job_.work,
                                     .file = file_.string(),
                                     .shown_file = file_.string(),
                                     .read = read(),
                                     .labels = job_.labels,
                                     .folds = rows_.size(),
                                     .examples = examples(),
                                     .advice_on_change = "name another --work-dir"},
                                    job_.log};
    results.read({.labels = job_.labels.names(), .flags = settings});
    results.write();
    results.tell("The cross-validation is in " + job_.work.string() +
                 ". It leaves no model: train one without --folds");
  }

 private:
  [[nodiscard]] data::ReadOptions read() const { return {.columns = job_.columns}; }

  [[nodiscard]] std::size_t examples() const {
    std::size_t count = 0;
    for (const auto& rows : rows_) count += rows.size();
    return count;
  }

  /// Returns the first line of a fold's files.
  [[nodiscard]] std::string header() const {
    return has_pairs_ ? "text,text_pair,label\n" : "text,label\n";
  }

  /// Throws `InputError` unless each label has a text for each fold.
  void check(const data::EncodedSet& set, std::int64_t count) const {
    const auto labels = set.arrays().labels;
    for (std::size_t id = 0; id < job_.labels.size(); ++id) {
      const auto rows = std::ranges::count(labels, static_cast<std::int32_t>(id));
      if (rows == 0 || rows >= count) continue;
      throw InputError{"has " + std::to_string(rows) + " texts of the label '" +
                           shown(job_.labels.name(id)) + "', fewer than --folds " +
                           std::to_string(count),
                       {.object = file_.string()},
                       "name fewer folds, or leave such texts out"};
    }
  }

  /// Trains the job of a fold, and saves its results.
  void train(std::size_t fold, const std::filesystem::path& folder) {
    run::KeptPredictions kept;
    Job job = job_;
    job.work = folder;
    job.data = folder / "data";
    job.columns.clear();  // the files of a fold have a header
    job.seed = data::seed_of_fold(job_.seed, fold);
    job.predictions = &kept;
    const auto& rows = rows_[fold - 1];
    gather(rows, job.data);
    const metrics::ClassificationReport report = Framework::train(job);
    save(report, kept, rows, folder);
  }

  /// Removes what a finished fold has left, such as its models and data, but for its results.
  static void keep_results(const std::filesystem::path& folder) {
    with_file_errors([&] {
      for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        const auto name = entry.path().filename();
        if (name == "metrics.json" || name == "predictions.jsonl") continue;
        std::filesystem::remove_all(entry.path());
      }
    });
  }

  /// Makes the data of a fold's job: train.csv without the fold's rows, test.csv with them, and the
  /// other files of the language.
  void gather(const std::vector<std::size_t>& rows, const std::filesystem::path& data) const {
    std::string train = header(), test = header(), valid = header();
    data::visit_examples(file_, read(), job_.labels,
                         [&](const data::ExamplePlace& place, const data::Example& example) {
                           const bool is_tested = std::ranges::binary_search(rows, place.row);
                           append(is_tested ? test : train, example);
                         });
    data::visit_examples(
        job_.data / "valid.csv", read(), job_.labels,
        [&](const auto&, const data::Example& example) { append(valid, example); });
    with_file_errors([&] {
      std::filesystem::create_directories(data);
      for (const auto& entry : std::filesystem::directory_iterator{job_.data}) {
        const auto name = entry.path().filename();
        if (name == "train.csv" || name == "valid.csv" || name == "test.csv") continue;
        std::filesystem::remove(data / name);
        std::filesystem::create_symlink(std::filesystem::absolute(entry.path()), data / name);
      }
    });
    write_file_atomically(data / "train.csv", train);
    write_file_atomically(data / "valid.csv", valid);
    write_file_atomically(data / "test.csv", test);
  }

  void append(std::string& file, const data::Example& example) const {
    if (example.text.empty()) file += "\"\"";
    data::append_csv_cell(file, example.text);
    file += ',';
    if (has_pairs_) {
      data::append_csv_cell(file, example.text_pair.value_or(""));
      file += ',';
    }
    data::append_csv_cell(file, example.label.value_or(""));
    file += '\n';
  }

  /// Saves the predictions of a fold, and its figures, which tell that it is finished.
  void save(const metrics::ClassificationReport& report, const run::KeptPredictions& kept,
            const std::vector<std::size_t>& rows, const std::filesystem::path& folder) const {
    const predict::Task task{.labels = job_.labels.names(),
                             .problem_type = job_.labels.problem_type()};
    std::vector<run::PredictedSplit> splits;
    if (const auto* const found = kept.find("test")) {
      splits.push_back({.name = "dev",
                        .predictions = found,
                        .records = data::record_numbers(file_, read(), job_.labels, rows)});
    }
    run::write_predictions(folder / "predictions.jsonl", splits, task);
    run::save({.labels = job_.labels.names(),
               .dev = report,
               .peak_memory_mib = peak_memory_mib(),
               .flags = job_.settings(),
               .versions = tensor::versions()},
              folder / "metrics.json");
  }

  const Job& job_;
  std::filesystem::path file_;
  std::vector<std::vector<std::size_t>> rows_ = {};
  bool has_pairs_ = false;  ///< whether examples have two texts
};

/// Cross-validates a job in `count` folds.
template <class Framework>
void cross_validate(const Job& job, std::int64_t count) {
  FoldsOfJob<Framework>{job, count}();
}

/// Publishes the results of a cross-validation into a dated folder of `place`, which is called
/// `where` in messages.
inline void publish_folds(const Job& job, sink::Any& place, const std::string& where) {
  const auto folder =
      sink::publish_once(place, job.work, experiment::FoldResults::files(),
                         job.lang + "_folds_" + dated(std::chrono::system_clock::now()));
  job.log.info("The results are in " + sink::key_below(where, folder));
}

}  // namespace seqtrain::languages
