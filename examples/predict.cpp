// Labels or embeds texts with a model: reads the records of a file or of stdin, and writes one JSON
// object a line, in order.
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/cli/answer_records.hpp>
#include <seqtrain/cli/drift.hpp>
#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_records.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/data/text_files.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/parquet/open_on_demand.hpp>
#include <seqtrain/predict/answer_columns.hpp>
#include <seqtrain/predict/comparison.hpp>
#include <seqtrain/predict/text_sample.hpp>
#include <seqtrain/predict/zero_shot.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/tensor/machine.hpp>

using namespace seqtrain;

/// Says on stderr how a model computes.
void describe_predictor(const model::AnyPredictor& model, c10::Device device) {
  if (model.precision() == model::Precision::int8) {
    log::log_on_stderr().lines(
        model::describe(model::Precision::int8, device, model.maps_in_bf16()));
  }
  log::log_on_stderr().lines(model.describe_embeddings());
}

/// Returns the records of `--reference-file`, which is on this machine, for the model of `task`.
cli::PredictTask reference_task(const cli::PredictTask& task) {
  cli::PredictFlags flags = task.flags;
  flags.file = flags.reference_file;
  if (flags.format != data::Format::lines) flags.format = {};  // that of the other file
  flags.keep = {};
  return cli::task_of_file(std::move(flags), [&](cli::PredictFlags&) { return task.base; });
}

/// Loads the model and writes its answers.
void predict_records(const cli::PredictTask& task) {
  const cli::PredictFlags& flags = task.flags;
  std::optional<cli::PredictTask> reference;
  if (!flags.reference_file.empty()) reference = reference_task(task);
  const auto device = tensor::use_machine(flags.device, flags.threads);
  using Embedding = std::optional<predict::EmbeddingOptions>;
  const auto load = [&](const std::string& precision, const Embedding& embedding) {
    return model::AnyPredictor{flags.model,
                               {.device = device,
                                .precision = model::precision_named(precision),
                                .base = task.base,
                                .embedding = embedding}};
  };
  const auto load_in = [&](const std::string& precision) {
    return load(precision, flags.embedding());
  };
  const auto model = load_in(flags.precision);
  describe_predictor(model, device);
  std::optional<model::AnyPredictor> other;
  if (!flags.compare.empty()) other.emplace(load_in(flags.compare));
  const auto predict = [&](const auto& predictor, const auto& compared_with) {
    flags.require_answers(predictor.task());
    auto records = task.open();
    auto options = flags.stream_options(model.max_length(), model.usual_length());
    const bool is_directory = std::holds_alternative<data::TextFiles>(records);
    options.window.answer =
        flags.answer_options(is_directory ? std::vector<std::string>{"file"} : flags.keep);
    if (flags.most_diverse > 0) {
      const auto embedder = flags.embed ? model : load(flags.precision, Embedding{std::in_place});
      cli::choose_diverse(records, task.size, embedder,
                          flags.diverse_options(embedder.max_length(), embedder.usual_length()));
    }
    if (compared_with) {
      const predict::Compared compared{predictor, *compared_with};
      const auto done = cli::answer_records(records, task.size, compared, flags, options);
      std::cerr << name(model.precision()) << " compared with " << name(other->precision()) << ": "
                << compared.comparison().text() << '\n';
      return cli::check_answered(done, flags);
    }
    const predict::Watched watched{predictor, reference.has_value()};
    const auto done = cli::answer_records(records, task.size, watched, flags, options);
    const auto tell_drift = [&] {
      if (!reference || done.answered == 0) return;
      cli::tell_drift(cli::drift_from({.reference = reference->open(),
                                       .reference_name = flags.reference_name,
                                       .max_length = options.max_length,
                                       .batch_size = options.window.batch_size,
                                       .threads = static_cast<std::size_t>(flags.threads)},
                                      predictor, model, watched, flags.input_name()),
                      predictor.task(), flags.drift_file);
    };
    cli::check_answered_after(tell_drift, done, flags);
  };
  if (!flags.zero_shot()) return predict(model, other);
  const auto batch_size = static_cast<std::size_t>(flags.batch_size);
  std::optional<predict::ZeroShot<model::AnyPredictor>> other_zero_shot;
  if (other) other_zero_shot.emplace(*other, flags.candidates, batch_size);
  predict(predict::ZeroShot{model, flags.candidates, batch_size}, other_zero_shot);
}

int predict_main(int argc, char** argv) {
  return cli::run([&] {
    cli::PredictFlags flags;
    flags.open = parquet::open_on_demand;
    flags.create_table = parquet::creates_on_demand();
    if (!flags.parse(argc, argv)) return;
    if (flags.format_of_answers() == predict::AnswerFormat::parquet) parquet::require_arrow();
    const storage::Options storages{.log = log::log_on_stderr()};
    const auto find_model = [&](cli::PredictFlags& given) {
      const auto found = storage::find_model(given.model, storages);
      given.model = found.directory.string();
      return found.base;
    };
    if (!flags.reference_file.empty()) {
      flags.reference_name = flags.reference_file;
      flags.reference_file = storage::fetch(flags.reference_file, storages).string();
    }
    if (flags.reads_stdin()) {
      return predict_records(cli::task_of_stdin(std::move(flags), find_model));
    }
    flags.file = storage::fetch(flags.file, storages).string();
    predict_records(cli::task_of_file(std::move(flags), find_model));
  });
}
