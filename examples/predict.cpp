// Labels or embeds texts with a model: reads the records of a file or of stdin, and writes one JSON
// object a line, in order.
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/cli/answer_records.hpp>
#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_records.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/data/text_files.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/parquet/open_on_demand.hpp>
#include <seqtrain/predict/comparison.hpp>
#include <seqtrain/predict/zero_shot.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/tensor/machine.hpp>

using namespace seqtrain;

/// Loads the model and writes its answers.
void predict_records(const cli::PredictTask& task) {
  const cli::PredictFlags& flags = task.flags;
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const auto load_in = [&](const std::string& precision) {
    return model::AnyPredictor{flags.model,
                               {.device = device,
                                .precision = model::precision_named(precision),
                                .base = task.base,
                                .embedding = flags.embedding()}};
  };
  const auto model = load_in(flags.precision);
  if (model.precision() == model::Precision::int8) {
    log::log_on_stderr().lines(
        model::describe(model::Precision::int8, device, model.maps_in_bf16()));
  }
  log::log_on_stderr().lines(model.describe_embeddings());
  std::optional<model::AnyPredictor> other;
  if (!flags.compare.empty()) other.emplace(load_in(flags.compare));
  const auto predict = [&](const auto& predictor, const auto& compared_with) {
    flags.require_answers(predictor.task());
    auto records = task.open();
    auto options = flags.stream_options(model.max_length(), model.usual_length());
    const bool is_directory = std::holds_alternative<data::TextFiles>(records);
    options.window.answer =
        flags.answer_options(is_directory ? std::vector<std::string>{"file"} : flags.keep);
    const auto answer = [&](const auto& by) {
      return cli::answer_records(records, task.size, by, flags, options);
    };
    if (!compared_with) return cli::check_answered(answer(predictor), flags);
    const predict::Compared compared{predictor, *compared_with};
    const auto done = answer(compared);
    std::cerr << name(model.precision()) << " compared with " << name(other->precision()) << ": "
              << compared.comparison().text() << '\n';
    cli::check_answered(done, flags);
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
    if (!flags.parse(argc, argv)) return;
    const storage::Options storages{.log = log::log_on_stderr()};
    const auto find_model = [&](cli::PredictFlags& given) {
      const auto found = storage::find_model(given.model, storages);
      given.model = found.directory.string();
      return found.base;
    };
    if (flags.reads_stdin()) {
      return predict_records(cli::task_of_stdin(std::move(flags), find_model));
    }
    flags.file = storage::fetch(flags.file, storages).string();
    predict_records(cli::task_of_file(std::move(flags), find_model));
  });
}
