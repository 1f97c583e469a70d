#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/hold_out.hpp>
#include <seqtrain/data/like_labels.hpp>
#include <seqtrain/data/near_equal.hpp>
#include <seqtrain/data/pairs.hpp>
#include <seqtrain/data/tokens_a_word.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/fetch_inputs.hpp>
#include <seqtrain/experiment/few_shot.hpp>
#include <seqtrain/experiment/file_encoder.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/experiment/processes.hpp>
#include <seqtrain/experiment/push_to_hub.hpp>
#include <seqtrain/experiment/run_checkpoints.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/several_runs.hpp>
#include <seqtrain/experiment/teacher.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/tuning.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/sentence_form.hpp>

namespace seqtrain::experiment {

/// A program that fine-tunes: its flags as they are given, its processes and its device.
struct Program {
  const log::Log& log;
  const storage::Options& storages;  ///< with the same log
  const std::string& name;
  const cli::TrainFlags& given;
  const cli::Flags& parser;
  Processes& processes;
  c10::Device device;
  const std::optional<model::OwnHead>& head;
  std::string& place;               ///< gets the path of the run's directory
  SeriesSignals* series = nullptr;  ///< the signals of several runs, of which this is one
};

/// The places and the model of a run, checked before anything is written. Only the first process
/// has checkpoints and a repository.
struct Prepared {
  cli::TrainFlags flags;  ///< with local paths
  run::RunDirectory directory;
  sink::Any job;  ///< gets the results too
  text::AnyTokenizer tokenizer;
  data::Labels labels;
  model::AnyClassifier model;
  std::unique_ptr<RunCheckpoints> checkpoints;
  std::optional<PushToHub> repository;
  std::optional<run::CardDataset> dataset;
  std::int64_t replicas;
  run::Results results;
  train::Pairs chosen = {};  ///< flags that are not given, with their values
  double tokens_a_word = run::AdviceFacts::unknown;  ///< those of the training texts

  [[nodiscard]] cli::StopSignalsOptions stop_options() const {
    if (checkpoints) return checkpoints->stop_options(flags);
    return {.grace_seconds = flags.grace_seconds};
  }
  [[nodiscard]] checkpoint::Checkpoints* checkpointer() const {
    return checkpoints ? &checkpoints->checkpointer() : nullptr;
  }
};

/// The encoded examples of a run.
struct Examples {
  data::EncodedFile train;
  data::EncodedFile dev;
  std::optional<data::EncodedFile> test;
  std::string dev_file;                 ///< the file that has the dev examples
  std::vector<std::size_t> train_rows;  ///< those of the training examples; empty if they are all
  std::vector<std::size_t> dev_rows;    ///< their rows in that file; empty if they are all of it
  data::ReadOptions dev_read;

  /// Tells whether the test file is the dev file again.
  [[nodiscard]] bool test_is_dev(const cli::TrainFlags& flags) const {
    return flags.test_file == flags.dev_file && flags.split_field.empty();
  }
};

/// Looks at the output directory and, if the model has to be fetched, reads the files of examples,
/// so that errors in them are found before. Otherwise they are found soon by encoding.
inline void check_before_the_model(const Program& program, const cli::TrainFlags& flags) {
  std::error_code none;
  const bool is_bundled = flags.train_file == cli::DataFlags{}.train_file;
  const bool is_missing = is_bundled && !program.parser.is_given("train-file") &&
                          !std::filesystem::exists(flags.train_file, none);
  if (flags.train_file.empty() || is_missing) {
    throw InputError{"is needed",
                     {.object = "--train-file"},
                     "name a .csv, .tsv or .jsonl with the fields text and label, or a --dataset"};
  }
  (void)run::RunDirectory{flags.run_directory(program.name, program.processes.is_first())};
  (void)flags.with_splits();
  if (!storage::is_elsewhere(flags.model, program.storages)) return;
  // The model may determine what labels are. Each of them can be read for regression.
  const data::Labels any = data::Labels::regression();
  const std::array<std::pair<const std::string&, data::ReadOptions>, 3> files{
      {{flags.train_file, train_read_options(flags)},
       {flags.dev_file, flags.read_options(data::Split::dev)},
       {flags.test_file, flags.read_options(data::Split::test)}}};
  for (const auto& [name, options] : files) {
    const std::string& file = name;
    if (file.empty()) continue;
    auto read = options;
    // Several fields are of labels unless the targets are known to be numbers.
    read.labelled = flags.label_field.find(',') == std::string::npos ||
                    flags.problem_type == seqtrain::name(ProblemType::regression);
    const auto check = [&](const data::ExamplePlace& at, const data::Example& example) {
      if (!read.labelled || read.label_optional || !example.label.value_or("").empty()) return;
      throw InputError{"the label is empty",
                       {.object = file, .line = static_cast<std::int64_t>(at.record)},
                       "write one, or leave out the row"};
    };
    data::visit_examples(file, read, any, check);
  }
}

/// Gives a tokenizer the way to read long texts that the flags have, if they have one.
inline void set_long_texts(text::AnyTokenizer& tokenizer, const cli::TrainFlags& flags,
                           std::size_t max_length) {
  if (!flags.long_texts) return;
  tokenizer.set_long_texts(
      *flags.long_texts, max_length,
      {.stride = static_cast<std::size_t>(flags.stride), .pooling = flags.window_pooling});
}

/// Lets a run read long texts as its model did before, unless a flag says otherwise, and changes
/// the `values` of the flags accordingly. The model of a run with --max-length saves the length.
inline void keep_way_of_model(const Program& program, text::AnyTokenizer& tokenizer,
                              cli::TrainFlags& flags, train::Pairs& values) {
  const auto windows = tokenizer.windows();
  const auto way = tokenizer.long_texts();
  if (windows && !flags.long_texts) {
    if (!program.parser.is_given("max-length"))
      flags.max_length = 0;  // that of the model's windows
    flags.stride = static_cast<std::int64_t>(windows->stride);
    flags.window_pooling = windows->pooling;
    const std::string pooling = windows->pooling == text::WindowPooling::max ? "max" : "mean";
    for (auto& [name, value] : values) {
      if (name == "long-texts") value = "windows";
      if (name == "stride") value = std::to_string(flags.stride);
      if (name == "window-pooling") value = pooling;
    }
    program.log.info("Long texts are read in windows with a stride of " +
                     std::to_string(flags.stride) + " and the " + pooling +
                     " of their logits, as the model has read them before");
  }
  if (!flags.long_texts && (windows || flags.max_length > 0)) flags.long_texts = way;
  set_long_texts(tokenizer, flags, static_cast<std::size_t>(flags.max_length));
}

/// Lets a run read texts as a sentence encoder asks for it, and changes the `values` of the flags
/// accordingly. --max-length, if it is given, says how many ids are read.
inline void read_as_sentences(const Program& program, text::AnyTokenizer& tokenizer,
                              const model::AnyClassifier& model, cli::TrainFlags& flags,
                              train::Pairs& values) {
  const auto& form = model.config().sentence;
  if (!form) return;
  tokenizer.set_change({.prompt = form->prompt, .lowercases = form->lowercases});
  std::vector<std::string> ways;
  if (form->max_length > 0 && flags.max_length == 0 && !tokenizer.windows()) {
    flags.max_length = std::min(static_cast<std::int64_t>(form->max_length), model.max_length());
    if (!flags.long_texts) flags.long_texts = tokenizer.long_texts();
    for (auto& [name, value] : values) {
      if (name == "max-length") value = std::to_string(flags.max_length);
    }
    ways.push_back("cut to " + std::to_string(flags.max_length) + " ids");
  }
  if (form->lowercases) ways.emplace_back("in lower case");
  if (!form->prompt.empty()) ways.push_back("after the prompt '" + form->prompt + "'");
  if (ways.empty()) return;
  program.log.info("Texts are read as the sentence encoder asks: " + joined(ways));
}

/// Logs how many linear layers get adapters, and warns of a base that only this machine has.
inline void describe_lora(const log::Log& log, const cli::TrainFlags& flags,
                          const model::ClassifierOptions& options,
                          const model::AnyClassifier& model) {
  if (!options.lora) return;
  const bool leaves = !flags.job_dir.empty() || !flags.push_to_hub.empty();
  if (!flags.merge_adapter && leaves && options.base_name.empty()) {
    log.warning("the adapter names its base by the path " + flags.model +
                ", which is not there on another machine; name a base on the hub by --model");
  }
  const auto maps = model.adapter_config().lora.targets.size();
  log.info("LoRA: rank " + std::to_string(flags.lora_rank) + " on " + std::to_string(maps) +
           " linear layers");
}

/// Returns the settings that the processes of a run, and a run that is continued, have in common.
[[nodiscard]] inline train::Pairs settings_of(const Program& program, const cli::TrainFlags& flags,
                                              const model::AnyClassifier& model) {
  auto settings = run_settings(program.parser.determining_values(), flags, name(model.precision()));
  // A learning rate without a value is chosen for the examples, and then added to the settings.
  std::erase_if(settings, [](const auto& setting) {
    return setting.first.ends_with("learning-rate") && setting.second == "nan";
  });
  settings.emplace_back("teacher",
                        flags.teacher.empty() ? "" : fingerprint_of_teacher(flags.teacher));
  if (const auto& form = model.config().sentence) {
    settings.emplace_back("pooling", weights::describe(*form));
  }
  return settings;
}

/// Finds the inputs and the places of a run, and loads the model. Throws `InputError` if a flag, a
/// file or another process does not fit.
[[nodiscard]] inline Prepared prepare(const Program& program) {
  const log::Log& log = program.log;
  const bool first = program.processes.is_first();
  if (program.given.optim == cli::Optimizer::adamw_8bit && !program.device.is_cpu()) {
    throw InputError{"adamw-8bit is for processors, and this device is " + program.device.str(),
                     {.object = "--optim"},
                     "use adamw"};
  }
  std::optional<PushToHub> repository;
  if (first) repository.emplace(program.given, log);
  auto flags = with_local_inputs(
      program.processes.in_one_directory(program.given, program.name), program.storages,
      [&](const cli::TrainFlags& files) { check_before_the_model(program, files); });
  flags = with_local_teacher(flags.with_splits(), program.storages);
  if (weights::is_adapter(flags.model)) {
    throw InputError{"is an adapter",
                     {.object = flags.model},
                     "train from its base, or from a model that --merge-adapter has saved"};
  }
  run::Results results{.tuned_trials = run::count_trials(flags.tuning),
                       .flags = with_dataset(program.parser.values(), flags),
                       .versions = tensor::versions()};
  auto dataset = card_dataset(flags);
  run::RunDirectory directory{flags.run_directory(program.name, first)};
  program.place = directory.path().string();
  auto job = first ? open_job_dir(flags.job_dir, program.storages) : sink::Any{sink::Discard{}};
  auto tokenizer = text::load_tokenizer(flags.model);
  keep_way_of_model(program, tokenizer, flags, results.flags);
  auto labels = flags.choose_labels([&](const auto& spellings, const std::string& name) {
    if (first) log.info("One label, '" + shown(name) + "': " + data::to_text(spellings));
  });
  auto options = flags.classifier<model::ClassifierOptions>(labels, tokenizer, program.device);
  if (labels.problem_type() == ProblemType::loss_alone) {  // as in transformers by default
    options.labels = {"LABEL_0", "LABEL_1"};
    options.problem_type = ProblemType::single_label;
  }
  const std::string& given = program.given.model;
  if (storage::is_elsewhere(given, program.storages)) options.base_name = given;
  options.head = program.head;
  auto model = model::load_classifier(flags.model, options);
  log.lines(tensor::describe(program.device) + "\n" + model::describe(model, options));
  read_as_sentences(program, tokenizer, model, flags, results.flags);
  set_long_texts(tokenizer, flags,
                 cli::example_length(flags.max_length, model.max_length(), tokenizer.max_length()));
  describe_lora(log, flags, options, model);
  const auto settings = settings_of(program, flags, model);
  program.processes.check_equal(settings);
  auto checkpoints = first ? std::make_unique<RunCheckpoints>(flags, directory, settings,
                                                              results.versions, program.storages)
                           : nullptr;
  const auto replicas = program.processes.replicas(flags.replicas, checkpoints.get());
  return {.flags = std::move(flags),
          .directory = std::move(directory),
          .job = std::move(job),
          .tokenizer = std::move(tokenizer),
          .labels = std::move(labels),
          .model = std::move(model),
          .checkpoints = std::move(checkpoints),
          .repository = std::move(repository),
          .dataset = std::move(dataset),
          .replicas = replicas,
          .results = std::move(results)};
}

/// Encodes the training file and the dev file, or holds the dev examples out of the training file.
[[nodiscard]] inline data::HeldOut encode_train_and_dev(Processes& processes,
                                                        FileEncoder<text::AnyTokenizer>& encode,
                                                        const cli::TrainFlags& flags,
                                                        const data::Labels& labels) {
  const auto read = train_read_options(flags);
  const auto groups = flags.groups(read, labels);
  encode.set_read(read);
  auto train = processes.encode_once(encode, flags.train_file);
  if (flags.dev_fraction > 0) return flags.hold_out(train, groups);
  std::vector<std::size_t> rows;
  train = data::sample_of(std::move(train), flags.fraction_of_train_data, rows);
  encode.set_read(flags.read_options(data::Split::dev));
  return {.train = std::move(train),
          .dev = processes.encode_once(encode, flags.dev_file),
          .train_rows = std::move(rows)};
}

/// Returns the number of dev examples that are equal or nearly equal to a training example; 0 if
/// there are too many examples to compare.
[[nodiscard]] inline std::size_t count_near_leaks(const cli::TrainFlags& flags,
                                                  const data::Labels& labels,
                                                  const Examples& examples) {
  constexpr std::size_t most = 2'000'000;  // more take minutes
  if (examples.train.set.size() + examples.dev.set.size() > most) return 0;
  const auto keys_of = [&](const std::string& file, const data::ReadOptions& read,
                           const std::vector<std::size_t>& rows) {
    std::vector<data::TextKey> keys;
    data::visit_examples(
        file, read, labels,
        [&](const auto&, const data::Example& example) {
          keys.push_back(data::text_key(example.text, example.text_pair));
        },
        rows);
    return keys;
  };
  return data::count_near_equal(
      keys_of(flags.train_file, train_read_options(flags), examples.train_rows),
      keys_of(examples.dev_file, examples.dev_read, examples.dev_rows));
}

/// Logs what the examples are, and warns of problems in them.
inline void describe_examples(const Program& program, Prepared& run, const Examples& examples) {
  const log::Log& log = program.log;
  const data::EncodedSet& train = examples.train.set;
  run.results.data = data::describe(examples.train, examples.dev, run.labels);
  log.lines(data::to_text(*run.results.data));
  log.warning(data::leak_warning(*run.results.data));
  log.warning(data::near_leak_warning(*run.results.data,
                                      count_near_leaks(run.flags, run.labels, examples)));
  const auto& [names, train_set, dev_set] = *run.results.data;
  log.warning(data::like_label_warning(
      names, train_set.labels,
      "--join-labels joins those of a training file, --labels names the right ones"));
  if (run.flags.labels.empty()) {
    log.warning(data::missing_label_warning(names, train_set.labels));
    log.warning(data::list_label_warning(names, train_set.labels));
  }
  log.warning(data::rare_label_warning(*run.results.data));
  log.warning(data::unknown_warning(train, text::unknown_id(run.tokenizer)));
  run.tokens_a_word = data::tokens_a_word(run.flags.train_file, train_read_options(run.flags),
                                          run.labels, run.tokenizer);
  log.warning(run::advice::many_tokens_a_word(
      {.tokens_a_word = run.tokens_a_word, .vocabulary = run.tokenizer.vocab_size()}));
  const bool takes_tokens = program.head && program.head->pooling == model::Pooling::none;
  const bool keeps =
      !takes_tokens && (run.model.has_kernels() || model::operators_keep_states(program.device));
  if (run.flags.freeze_encoder && keeps) {
    const auto windows = run.tokenizer.windows();
    const auto rows_of = [&](const data::EncodedSet& set) {
      if (!windows) return set.size();
      std::size_t rows = 0;
      for (std::size_t row = 0; row < set.size(); ++row) {
        rows += text::count_windows(set.length(row), set.first_segment(row), *windows);
      }
      return rows;
    };
    const auto rows = rows_of(train) + rows_of(examples.dev.set) +
                      (examples.test ? rows_of(examples.test->set) : 0);
    log.warning(
        model::states_warning(rows, static_cast<std::size_t>(run.model.config().hidden_size)));
  }
}

/// Encodes the examples of a run and logs what they are.
[[nodiscard]] inline Examples read_examples(const Program& program, Prepared& run) {
  const cli::TrainFlags& flags = run.flags;
  FileEncoder encode{flags, run.tokenizer, run.labels, run.model.max_length(), program.log};
  if (flags.holds_out_by_default) {
    program.log.info("No --dev-file: a tenth of " + flags.train_file +
                     " is held out to evaluate on");
  }
  few_shot::demand_few(flags, run.labels);
  auto parts = encode_train_and_dev(program.processes, encode, flags, run.labels);
  std::optional<data::EncodedFile> test;
  encode.set_read(flags.read_options(data::Split::test));
  if (!flags.test_file.empty()) test = program.processes.encode_once(encode, flags.test_file);
  program.log.lines(data::describe(parts.train));
  const bool holds_out = !parts.dev_rows.empty();
  Examples examples{
      .train = std::move(parts.train),
      .dev = std::move(parts.dev),
      .test = std::move(test),
      .dev_file = holds_out ? flags.train_file : flags.dev_file,
      .train_rows = std::move(parts.train_rows),
      .dev_rows = std::move(parts.dev_rows),
      .dev_read = holds_out ? train_read_options(flags) : flags.read_options(data::Split::dev)};
  if (program.processes.is_first()) describe_examples(program, run, examples);
  return examples;
}

/// Encodes the examples of a run again, with a row for each of their texts.
inline void take_texts_apart(const Program& program, const Prepared& run, Examples& examples) {
  FileEncoder encode{run.flags, run.tokenizer, run.labels, run.model.max_length(), program.log};
  encode.set_texts(data::Texts::apart);
  const auto again = [&](data::EncodedFile& file, const std::string& name,
                         const data::ReadOptions& read, const std::vector<std::size_t>& rows) {
    encode.set_read(read);
    file = program.processes.encode_once(encode, name);
    if (!rows.empty()) {
      file.set = file.set.select(data::rows_of_pairs(std::span<const std::size_t>{rows}));
    }
  };
  const cli::TrainFlags& flags = run.flags;
  again(examples.train, flags.train_file, train_read_options(flags), examples.train_rows);
  again(examples.dev, examples.dev_file, examples.dev_read, examples.dev_rows);
  if (!examples.test) return;
  again(*examples.test, flags.test_file, flags.read_options(data::Split::test), {});
}

}  // namespace seqtrain::experiment
