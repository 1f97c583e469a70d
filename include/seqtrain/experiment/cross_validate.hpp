#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/fetch_inputs.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/experiment/no_tokens.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/several_runs.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/page/cross_validation.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/run/label_errors.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// A cross-validation: a run for each fold, in a folder of its own, and what their predictions say
/// about the training file. A fold whose run is finished is kept if the cross-validation is
/// resumed.
class CrossValidation {
 public:
  /// Reads the labels and chooses the folds. Throws `InputError` if a flag or a file does not fit.
  CrossValidation(const cli::TrainFlags& given, const cli::Flags& parser, const std::string& name,
                  const storage::Options& storages)
      : given_{given},
        parser_{parser},
        log_{storages.log},
        signals_{given, log_},
        local_{
            with_local_inputs(demand_train_file(given, "--folds divides its examples"), storages)},
        directory_{given.run_directory(name)},
        job_{open_job_dir(given.job_dir, storages)},
        labels_{local_.choose_labels([](const auto&, const std::string&) {})} {
    const auto set = read_labels(local_.train_file, local_.read_options(), labels_, local_, log_);
    rows_ = local_.rows_of_folds(set.set, labels_);
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// Returns the signals that stop the folds.
  [[nodiscard]] SeriesSignals& signals() { return signals_; }

  /// Calls train(flags) for each fold that is not finished, then writes the results of all. Throws
  /// `train::Stopped` if a signal arrives between two folds.
  void operator()(const std::function<void(const cli::TrainFlags&)>& train) {
    std::vector<cli::TrainFlags> folds;
    for (std::size_t fold = 0; fold < rows_.size(); ++fold) {
      const auto number = static_cast<std::int64_t>(fold) + 1;
      folds.push_back(given_.of_fold({.number = number, .rows = rows_[fold]}, directory()));
    }
    begin(folds);
    for (const auto& flags : folds) {
      const std::string title =
          "Fold " + std::to_string(flags.fold->number) + " of " + std::to_string(folds.size());
      const bool finished = is_finished(flags);
      log_.info(title + (finished ? " is finished: " + flags.output_dir : ""));
      signals_.check();
      if (!finished) train(flags);
    }
    signals_.check();
    finish();
  }

 private:
  /// Tells whether the run of a fold is to be kept.
  [[nodiscard]] static bool is_finished(const cli::TrainFlags& flags) {
    std::error_code none;
    return std::filesystem::exists(metrics_of(flags), none);
  }

  [[nodiscard]] static std::filesystem::path metrics_of(const cli::TrainFlags& flags) {
    return std::filesystem::path{flags.output_dir} / "metrics.json";
  }

  /// Continues the cross-validation in the directory if that is asked for, or else begins one
  /// there: results of folds then count no more. Throws `InputError` if the one in the directory
  /// has other settings or other data, or is not to be replaced.
  void begin(const std::vector<cli::TrainFlags>& folds) {
    auto settings = run_settings(parser_.determining_values(), local_, local_.precision);
    for (const char* name : {"epochs", "max-steps"}) {  // a run may be extended, but not all folds
      settings.emplace_back(name, train::value_in(parser_.values(), name));
    }
    const auto file = directory() / "folds.json";
    std::error_code none;
    if (std::filesystem::exists(file, none)) {
      if (given_.continues_by_itself()) return check_settings(file, settings, "a cross-validation");
      if (!given_.overwrite) refuse_to_replace(file, "a cross-validation");
    }
    directory_.create();
    std::filesystem::remove(directory_.metrics(), none);
    std::filesystem::remove(directory() / sink::Published::file_name, none);
    for (const auto& flags : folds) std::filesystem::remove(metrics_of(flags), none);
    json::Writer out;
    out.begin_object();
    train::append(out, "settings", settings);
    write_file_atomically(file, out.end_object().text() + "\n");
  }

  /// Reads the results of all folds, and writes those of the cross-validation.
  void finish() {
    run::Results results{.labels = labels_.names(),
                         .flags = with_dataset(parser_.values(), local_)};
    auto& all = results.cross_validation.emplace();
    for (std::size_t fold = 1; fold <= rows_.size(); ++fold) {
      const auto folder = directory() / ("fold-" + std::to_string(fold));
      const auto metrics = json::Document::load(folder / "metrics.json");
      run::add_fold(all, metrics.root());
      run::read_fold(predictions_, folder / "predictions.jsonl", static_cast<std::int64_t>(fold));
      if (fold == 1) results.versions = train::pairs_in(metrics.root(), "versions");
    }
    std::ranges::sort(predictions_, {}, &run::OutOfFold::row);
    check_rows();
    all.left_out = examples() - std::min(examples(), predictions_.size());
    results.dev = run::report_of(predictions_, labels_.names(), labels_.problem_type());
    if (has_names()) find_errors();
    find_equal_texts();
    all.label_errors = errors_.size();
    all.equal_texts = equal_texts_.empty() ? 0 : equal_texts_.back().group;
    write(results);
    tell(results);
  }

  /// Returns the number of examples in all folds.
  [[nodiscard]] std::size_t examples() const {
    std::size_t count = 0;
    for (const auto& rows : rows_) count += rows.size();
    return count;
  }

  /// Throws `InputError` unless each example has one prediction at most.
  void check_rows() const {
    const auto twice = std::ranges::adjacent_find(predictions_, {}, &run::OutOfFold::row);
    if (twice == predictions_.end()) return;
    throw InputError{"record " + std::to_string(twice->row) + " is in two folds",
                     {.object = directory().string()},
                     "the training file has changed; pass --overwrite without --resume"};
  }

  void find_errors() {
    std::unordered_map<std::int64_t, std::size_t> index;  // of errors by record
    for (const auto& found : run::find_label_errors(predictions_, labels_.names())) {
      const run::OutOfFold& one = predictions_[found.row];
      index.emplace(one.row, errors_.size());
      errors_.push_back({.row = one.row,
                         .fold = one.fold,
                         .label = labels_.name(found.label),
                         .suggested = labels_.name(found.suggested),
                         .score = found.score,
                         .suggested_score = one.scores[found.suggested]});
    }
    visit([&](std::int64_t record, const data::Example& example) {
      const auto found = index.find(record);
      if (found == index.end()) return;
      errors_[found->second].text = example.text;
      if (example.text_pair) errors_[found->second].pair = std::string{*example.text_pair};
    });
  }

  [[nodiscard]] bool has_names() const {
    return labels_.problem_type() == ProblemType::single_label && !labels_.soft();
  }

  /// Finds texts that examples with different labels have.
  void find_equal_texts() {
    struct Text {
      std::size_t label = 0;
      bool differs = false;
    };
    const auto hash = [](std::string_view text) { return std::hash<std::string_view>{}(text); };
    const auto key = [&](const data::Example& example) {
      std::string both{example.text};
      if (example.text_pair) both.append(1, '\0').append(*example.text_pair);
      return hash(both);
    };
    const auto label_key = [&](std::string_view name) {  // the same for all spellings of a label
      const auto id = has_names() ? labels_.find(name) : std::nullopt;
      return id ? static_cast<std::size_t>(*id) : hash(name);
    };
    std::unordered_map<std::size_t, Text> texts;
    visit([&](std::int64_t, const data::Example& example) {
      const std::size_t label = label_key(example.label.value_or(""));
      const auto [found, is_new] = texts.try_emplace(key(example), Text{.label = label});
      if (found->second.label != label) found->second.differs = true;
    });
    std::unordered_map<std::size_t, std::size_t> groups;
    visit([&](std::int64_t record, const data::Example& example) {
      if (!texts.at(key(example)).differs) return;
      const auto [group, is_new] = groups.try_emplace(key(example), groups.size() + 1);
      equal_texts_.push_back({.group = group->second,
                              .row = record,
                              .text = std::string{example.text},
                              .label = std::string{example.label.value_or("")}});
      if (example.text_pair) equal_texts_.back().pair = std::string{*example.text_pair};
    });
    std::ranges::stable_sort(equal_texts_, {}, &run::EqualText::group);
  }

  /// Calls use(record, example) for the examples of the training file.
  template <class Use>
  void visit(const Use& use) const {
    data::visit_examples(local_.train_file, local_.read_options(), labels_,
                         [&](const data::ExamplePlace& place, const data::Example& example) {
                           use(static_cast<std::int64_t>(place.record), example);
                         });
  }

  /// Writes metrics.json last, which tells that the cross-validation is finished, and publishes
  /// the results unless they are published already.
  void write(const run::Results& results) {
    const auto lock = directory_.lock();
    run::write_out_of_fold(directory() / "out_of_fold.jsonl", predictions_);
    auto errors = errors_;
    auto equal = equal_texts_;
    if (!given_.report_texts) {
      for (auto& one : errors) one.text = "", one.pair.reset();
      for (auto& one : equal) one.text = "", one.pair.reset();
    }
    run::write_label_errors(directory() / "label_errors.csv", errors);
    run::write_label_studio(directory() / "label_errors.label_studio.json", errors);
    run::write_equal_texts(directory() / "equal_texts.csv", equal);
    write_file_atomically(directory_.report(),
                          page::cross_validation_page(
                              {.name = directory().filename().string(),
                               .file = given_.dataset.empty() ? given_.train_file : given_.dataset,
                               .all = *results.cross_validation,
                               .label_errors = errors,
                               .equal_texts = equal,
                               .examples = examples(),
                               .texts = given_.report_texts}));
    run::save(results, directory_.metrics());
    const std::vector<std::string> names{"metrics.json",      "report.html",
                                         "out_of_fold.jsonl", "label_errors.csv",
                                         "equal_texts.csv",   "label_errors.label_studio.json"};
    if (given_.job_dir.empty()) return;
    sink::publish_once(job_, directory(), names,
                       "folds_" + dated(std::chrono::system_clock::now()));
  }

  void tell(const run::Results& results) const {
    log_.warning(run::left_out_warning(results.cross_validation->left_out, examples()));
    log_.info("\n" + report::align(page::fold_rows(*results.cross_validation, false)));
    if (!errors_.empty()) {
      log_.warning(std::to_string(errors_.size()) + " of " + std::to_string(predictions_.size()) +
                   " labels are probably wrong: see " +
                   (directory() / "label_errors.csv").string());
    }
    if (!equal_texts_.empty()) {
      log_.warning(std::to_string(equal_texts_.back().group) +
                   " texts have different labels in different places: see " +
                   (directory() / "equal_texts.csv").string());
    }
    log_.info("The cross-validation is in " + directory().string() +
              ". It leaves no model: train one without --folds");
  }

  const cli::TrainFlags& given_;
  const cli::Flags& parser_;
  const log::Log& log_;
  SeriesSignals signals_;
  cli::TrainFlags local_;
  run::RunDirectory directory_;
  sink::Any job_;  ///< gets the results too
  data::Labels labels_;
  std::vector<std::vector<std::size_t>> rows_ = {};
  std::vector<run::OutOfFold> predictions_ = {};
  std::vector<run::DoubtfulLabel> errors_ = {};
  std::vector<run::EqualText> equal_texts_ = {};
};

}  // namespace seqtrain::experiment
