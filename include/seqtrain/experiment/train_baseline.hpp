#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/saved_model.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/core/version.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/hold_out.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/like_labels.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/fetch_inputs.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/experiment/next_commands.hpp>
#include <seqtrain/experiment/no_tokens.hpp>
#include <seqtrain/experiment/simple_models.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/report/baseline.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/model_card.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::experiment {

namespace detail {

/// The parts of a run of `seqtrain baseline`.
class BaselineRun {
 public:
  BaselineRun(const cli::TrainFlags& given, const cli::Flags& parser, const log::Log& log)
      : log_{log},
        parser_{parser},
        flags_{with_local_examples(given, {.log = log})},
        directory_{flags_.run_directory("baseline")},
        job_{open_job_dir(flags_.job_dir, {.log = log})} {
    if (flags_.train_file.empty()) {
      throw InputError{
          "is needed",
          {.object = "--train-file"},
          "name a .csv, .tsv or .jsonl with the fields text and label, or a --dataset"};
    }
    flags_ = flags_.with_splits();
    labels_ = flags_.choose_labels([&](const auto& spellings, const std::string& name) {
      log.info("One label, '" + shown(name) + "': " + data::to_text(spellings));
    });
    read_examples();
  }

  /// Trains, judges and saves the model.
  void operator()() {
    const cli::StopSignals signals{{.grace_seconds = flags_.grace_seconds,
                                    .log = log_.warnings(),
                                    .plan = "the training ends, and nothing is saved"}};
    const auto threads = static_cast<std::size_t>(flags_.threads);
    const TextsOfSet train{.set = sets_->train.set,
                           .file = flags_.train_file,
                           .read = flags_.read_options(data::Split::train),
                           .rows = sets_->train_rows};
    const bool holds_out = !sets_->dev_rows.empty();
    const TextsOfSet dev{
        .set = sets_->dev.set,
        .file = holds_out ? flags_.train_file : flags_.dev_file,
        .read = flags_.read_options(holds_out ? data::Split::train : data::Split::dev),
        .rows = sets_->dev_rows};
    const auto made =
        train_simple_models(train, dev, labels_,
                            {.class_weights = flags_.class_weights_for(sets_->train.set, labels_),
                             .threads = threads,
                             .stop = signals.token()},
                            observer("dev", dev));
    if (!made) {
      throw InputError{"no example has a label",
                       {.object = flags_.train_file},
                       "name another field by --label-field"};
    }
    log_.info(describe(made->scores));
    results_.dev = made->scores.linear;
    kept_.on(train::EvalEnd{.split = "dev", .report = *results_.dev});
    results_.baseline = made->scores;
    std::optional<TextsOfSet> test;
    if (test_) {
      test.emplace(TextsOfSet{.set = test_->set,
                              .file = flags_.test_file,
                              .read = flags_.read_options(data::Split::test)});
      results_.test =
          judge_simple_models(made->model, *test, labels_, threads, observer("test", *test)).linear;
      kept_.on(train::EvalEnd{.split = "test", .report = *results_.test});
    }
    finish(made->model, dev, test);
  }

 private:
  [[nodiscard]] data::EncodedFile encode(const std::string& file,
                                         const data::ReadOptions& read) const {
    return read_labels(file, read, labels_, flags_, log_);
  }

  /// Reads the labels of all examples, and chooses those of dev as training programs do.
  void read_examples() {
    if (flags_.holds_out_by_default) {
      log_.info("No --dev-file: a tenth of " + flags_.train_file + " is held out to evaluate on");
    }
    const auto read = flags_.read_options(data::Split::train);
    auto train = encode(flags_.train_file, read);
    if (flags_.dev_fraction > 0) {
      sets_ = flags_.hold_out(train, flags_.groups(read, labels_));
    } else {
      std::vector<std::size_t> rows;
      train = data::sample_of(std::move(train), flags_.fraction_of_train_data, rows);
      sets_ = {.train = std::move(train),
               .dev = encode(flags_.dev_file, flags_.read_options(data::Split::dev)),
               .train_rows = std::move(rows)};
    }
    if (!flags_.test_file.empty()) {
      test_ = encode(flags_.test_file, flags_.read_options(data::Split::test));
    }
    const bool has_numbers = labels_.problem_type() == ProblemType::regression;
    const std::string kind = !has_numbers          ? " labels"
                             : labels_.size() == 1 ? " target"
                                                   : " targets";
    log_.info(std::to_string(sets_->train.set.size()) + " training examples, " +
              std::to_string(sets_->dev.set.size()) + " dev examples, " +
              std::to_string(labels_.size()) + kind);
  }

  /// Returns what keeps the logits of a split's examples that have a label.
  [[nodiscard]] baseline::Judge::Observer observer(std::string_view split,
                                                   const TextsOfSet& texts) {
    std::vector<std::int64_t> rows;
    for (std::size_t row = 0; row < texts.set.size(); ++row) {
      if (is_labelled(texts.set, row)) rows.push_back(static_cast<std::int64_t>(row));
    }
    kept_.on(train::EvalBegin{.split = split});
    return [this, split, rows = std::move(rows), at = std::size_t{0}](
               const metrics::Logits& logits, std::span<const std::int64_t> labels,
               std::span<const float> targets) mutable {
      kept_.on(train::EvalPredictions{.split = split,
                                      .problem_type = labels_.problem_type(),
                                      .logits = logits,
                                      .labels = labels,
                                      .targets = targets,
                                      .row_ids = std::span{rows}.subspan(at, labels.size())});
      at += labels.size();
    };
  }

  /// Saves the model and the results, and logs them.
  void finish(const baseline::Model& model, const TextsOfSet& dev,
              const std::optional<TextsOfSet>& test) {
    predict::Task task{.labels = labels_.names(), .problem_type = labels_.problem_type()};
    const auto* const predictions = kept_.find("dev");
    if (flags_.calibrates() && predictions != nullptr) {
      results_.calibration = run::calibrate(*predictions, task, flags_.calibration_precision());
      log_.info(run::to_text(*results_.calibration, labels_.names()));
      task = results_.calibration->apply(task);
    }
    results_.labels = labels_.names();
    results_.flags = with_dataset(parser_.values(), flags_);
    results_.versions = {{"seqtrain", std::string{version}}};
    results_.peak_memory_mib = peak_memory_mib();
    const auto lock = directory_.lock();
    directory_.create();
    remove_replaced_run();
    directory_.replace_model([&](const auto& folder) { save_model(model, folder); });
    std::vector<run::PredictedSplit> splits;
    const auto add = [&](std::string_view name, const TextsOfSet& texts) {
      splits.push_back(
          {.name = std::string{name},
           .predictions = kept_.find(name),
           .records = data::record_numbers(texts.file, texts.read, labels_, texts.rows)});
      if (splits.back().predictions == nullptr) splits.pop_back();
    };
    add("dev", dev);
    if (test) add("test", *test);
    run::write_predictions(directory_.predictions(), splits, task);
    run::save(results_, directory_.metrics());
    const std::vector<std::string> names{"model", "metrics.json", "predictions.jsonl"};
    sink::publish(job_, directory_.path(), names, run::dated_model_folder());
    tell(dev);
  }

  /// Removes what is left of a trained run that this one replaces.
  void remove_replaced_run() const {
    std::error_code none;
    for (const auto& file : {directory_.report(), directory_.log(), directory_.state_dict()}) {
      std::filesystem::remove(file, none);
    }
    directory_.remove_checkpoints();
  }

  void save_model(const baseline::Model& model, const std::filesystem::path& folder) const {
    baseline::save(model, labels_.names(), folder);
    if (results_.calibration) {
      const auto config = folder / "config.json";
      const std::string text{MappedFile{config}.text()};
      write_file_atomically(config, weights::with_calibration(text, results_.calibration->chosen));
    }
    write_file_atomically(folder / "README.md",
                          run::model_card(results_, {.name = directory_.path().filename().string(),
                                                     .dataset = card_dataset(flags_),
                                                     .library = "seqtrain"}));
  }

  void tell(const TextsOfSet& dev) const {
    log_.info(report::tables(results_.test ? *results_.test : *results_.dev, labels_.names()));
    auto rows = report::baseline_rows(*results_.dev, *results_.baseline);
    rows.erase(rows.begin() + 1);  // this model is the linear one
    log_.info("\n" + report::align(rows));
    log_.info("The model is in " + directory_.path().string());
    log_.lines(commands_of_model(parser_.started_as(), directory_, dev.file));
  }

  const log::Log& log_;
  const cli::Flags& parser_;
  cli::TrainFlags flags_;
  run::RunDirectory directory_;
  sink::Any job_;  ///< gets the results too
  data::Labels labels_ = data::Labels::regression();
  std::optional<data::HeldOut> sets_ = {};
  std::optional<data::EncodedFile> test_ = {};
  run::KeptPredictions kept_ = run::KeptPredictions{true};
  run::Results results_ = {};
};

}  // namespace detail

/// Trains simple models on the training file of a program whose flags are those of
/// `TrainFlags::parse_for_baseline`, logs their figures on dev and test, and saves the linear one
/// as the model of a run. Throws `InputError` if a flag or a file does not fit, and
/// `train::Stopped` if a signal stops the training. Nothing is written then.
inline void train_baseline(const cli::TrainFlags& flags, const cli::Flags& parser,
                           const log::Log& log) {
  detail::BaselineRun{flags, parser, log}();
}

}  // namespace seqtrain::experiment
