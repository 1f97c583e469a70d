// Labels or embeds texts with a model: reads the records of a file or of stdin, and writes one JSON
// object a line, in order.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_input.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/example_stream.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/data/text_files.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/parquet/is_parquet.hpp>
#include <seqtrain/parquet/open_on_demand.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/comparison.hpp>
#include <seqtrain/predict/npy_file.hpp>
#include <seqtrain/predict/zero_shot.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/tensor/machine.hpp>

using namespace seqtrain;

/// Shows the progress of a stream on a terminal.
class StreamBar {
 public:
  /// `size` is the number of bytes of the input, or 0 if it is not known.
  explicit StreamBar(std::int64_t size) : size_{size} {}

  void operator()(const predict::StreamProgress& progress) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
    const double rate = static_cast<double>(progress.records) / time.count();
    bar_.draw({.name = "predict",
               .done = size_ > 0 ? progress.bytes : progress.records,
               .total = size_,
               .seconds = time.count(),
               .rates = {{.per_second = rate, .unit = "examples/s"}}});
  }

 private:
  log::Bar<> bar_{{.enabled = ::isatty(STDERR_FILENO) == 1 && !log::stdout_is_terminal()},
                  std::cerr};
  std::int64_t size_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The records of a stream, a table in another format, or a directory of texts.
using AnyRecords =
    std::variant<data::RecordStream<cli::PredictInput>, data::ExampleStream, data::TextFiles>;

/// Reads records and writes their answers to stdout or to a file, which appears when all of them
/// are written.
template <predict::Predictor P>
predict::StreamProgress answer(AnyRecords& records, std::int64_t size, const P& predictor,
                               const cli::PredictFlags& flags, predict::StreamOptions options) {
  const OutputDescriptor output{STDOUT_FILENO, "stdout"};
  std::optional<AtomicFile> file;
  std::optional<predict::NpyFile> table;
  if (options.window.answer.format == predict::AnswerFormat::npy) {
    table.emplace(flags.output_file);
  } else if (flags.output_file != "-") {
    file.emplace(flags.output_file);
  }
  StreamBar bar{size};
  options.progress = [&bar](const predict::StreamProgress& progress) { bar(progress); };
  const auto write = [&](const std::string& lines) {
    if (!file && !table) return output.write(lines);
    file ? file->write(lines) : table->write(lines);
    return true;
  };
  const auto done = std::visit(
      [&](auto& each) { return predict::answer_stream(each, predictor, write, options); }, records);
  if (file) file->commit();
  if (table) table->commit(static_cast<std::uint64_t>(done.records));
  return done;
}

/// Says how many texts get no label, and throws `InputError` if records are wrong.
void check(const predict::StreamProgress& done, const cli::PredictFlags& flags) {
  if (flags.min_score > 0) {
    std::cerr << done.abstained << " of " << done.records - done.wrong
              << " texts get no label: their best score is below "
              << cli::flag_text(flags.min_score) << '\n';
  }
  if (done.wrong == 0) return;
  throw InputError{
      std::to_string(done.wrong) + " of " + std::to_string(done.records) + " records are wrong",
      {.object = flags.input_name()},
      "their answers say why"};
}

/// Loads the model, and labels the records that `open` returns. It is called when the model is
/// there, so that a stream is not waited for before.
template <class Open>
void label_records(const Open& open, std::int64_t size, const cli::PredictFlags& flags,
                   const std::filesystem::path& base) {
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const auto load_in = [&](const std::string& precision) {
    return model::AnyPredictor{flags.model,
                               {.device = device,
                                .precision = model::precision_named(precision),
                                .base = base,
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
  const auto label = [&](const auto& predictor, const auto& compared_with) {
    flags.require_answers(predictor.task());
    AnyRecords records = open();
    auto options = flags.stream_options(model.max_length(), model.usual_length());
    const bool is_directory = std::holds_alternative<data::TextFiles>(records);
    options.window.answer =
        flags.answer_options(is_directory ? std::vector<std::string>{"file"} : flags.keep);
    if (!compared_with) return check(answer(records, size, predictor, flags, options), flags);
    const predict::Compared compared{predictor, *compared_with};
    const auto done = answer(records, size, compared, flags, options);
    std::cerr << name(model.precision()) << " compared with " << name(other->precision()) << ": "
              << compared.comparison().text() << '\n';
    check(done, flags);
  };
  if (!flags.zero_shot()) return label(model, other);
  const auto batch_size = static_cast<std::size_t>(flags.batch_size);
  std::optional<predict::ZeroShot<model::AnyPredictor>> other_zero_shot;
  if (other) other_zero_shot.emplace(*other, flags.candidates, batch_size);
  label(predict::ZeroShot{model, flags.candidates, batch_size}, other_zero_shot);
}

/// Finds the model, and names its directory in the flags. Returns the directory of its base.
std::filesystem::path find_model(cli::PredictFlags& flags) {
  const auto found = storage::find_model(flags.model, {log::log_on_stderr()});
  flags.model = found.directory.string();
  return found.base;
}

/// Tells whether the file is to be opened by `flags.open`, because it is Parquet.
bool is_parquet(const cli::PredictFlags& flags) {
  std::error_code none;
  if (flags.open == nullptr || flags.format || std::filesystem::is_fifo(flags.file, none)) {
    return false;
  }
  return parquet::is_parquet(data::split_files(flags.file));
}

void label_parquet(cli::PredictFlags flags) {
  const auto given = flags.read_options();
  const auto open = [&](const data::ReadOptions& options) {
    return data::open_example_file(flags.file, options);
  };
  const auto can_read = [&](const data::ReadOptions& options) {
    try {
      return open(options) != nullptr;
    } catch (const InputError&) {
      return false;
    }
  };
  std::error_code none;
  if (!std::filesystem::exists(flags.model, none)) (void)open(given);
  const auto base = find_model(flags);
  const auto run = cli::FieldsOfRun::of_model(flags.model);
  data::ExampleStream records{open(cli::options_for(given, run, can_read))};
  const auto size = records.size();
  label_records([&] { return AnyRecords{std::move(records)}; }, size, flags, base);
}

void label_directory(cli::PredictFlags flags) {
  data::refuse_fields(flags.read_options(), flags.file);
  data::TextFiles records{flags.file};
  const auto base = find_model(flags);
  const auto size = records.size();
  label_records([&] { return AnyRecords{std::move(records)}; }, size, flags, base);
}

/// Returns the options for reading an input with the fields of the model's run.
data::ReadOptions options_for(const std::string& beginning, const cli::PredictFlags& flags) {
  const auto can_read = [&](const data::ReadOptions& options) {
    return cli::fits(beginning, flags.input_name(), options);
  };
  return cli::options_for(flags.read_options(), cli::FieldsOfRun::of_model(flags.model), can_read);
}

/// Labels the records of a file. An error in its format or its fields is found before the model is
/// fetched and loaded.
void label_file(cli::PredictFlags flags) {
  flags.file = storage::fetch(flags.file, {log::log_on_stderr()}).string();
  if (is_parquet(flags)) return label_parquet(std::move(flags));
  std::error_code none;
  if (std::filesystem::is_directory(flags.file, none)) return label_directory(std::move(flags));
  auto input = cli::PredictInput::of_file(flags.file);
  const std::string& beginning = input.beginning();
  if (!std::filesystem::exists(flags.model, none)) {
    cli::check_beginning(beginning, flags.file, flags.read_options());
  }
  const auto base = find_model(flags);
  const auto options = options_for(beginning, flags);
  cli::check_beginning(beginning, flags.file, options);
  const auto size = input.size().value_or(0);
  label_records(
      [&] {
        return AnyRecords{data::RecordStream{std::move(input), flags.file, options}};
      },
      size, flags, base);
}

void label_stdin(cli::PredictFlags flags) {
  struct ::stat status = {};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISDIR(status.st_mode)) {
    throw InputError{"is a directory, not a file", {.object = "stdin"}, "name it by --file"};
  }
  const auto base = find_model(flags);
  cli::PredictInput input{{STDIN_FILENO, flags.input_name()}};
  const auto size = input.size().value_or(0);
  const auto open = [&] {
    auto options = flags.read_options();
    if (!cli::FieldsOfRun::of_model(flags.model).empty()) {
      options = options_for(input.beginning(), flags);
    }
    return AnyRecords{data::RecordStream{std::move(input), flags.input_name(), options}};
  };
  label_records(open, size, flags, base);
}

int predict_main(int argc, char** argv) {
  return cli::run([&] {
    cli::PredictFlags flags;
    flags.open = parquet::open_on_demand;
    if (!flags.parse(argc, argv)) return;
    flags.reads_stdin() ? label_stdin(std::move(flags)) : label_file(std::move(flags));
  });
}
