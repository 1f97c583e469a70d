// Labels texts with a fine-tuned model: reads the records of a file or of stdin, and writes one
// JSON object a line, in order.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_input.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/comparison.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/tensor/machine.hpp>

using namespace seqtrain;

/// Shows the progress of a stream on a terminal.
class StreamBar {
 public:
  explicit StreamBar(const cli::PredictInput& input) : size_{input.size().value_or(0)} {}

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

/// The records to label.
struct Records {
  cli::PredictInput input;
  std::string name;
  data::ReadOptions options;
};

/// Reads records and writes their answers to stdout.
template <predict::Predictor P>
predict::StreamProgress answer(const Records& from, const P& predictor,
                               predict::StreamOptions options) {
  const OutputDescriptor output{STDOUT_FILENO, "stdout"};
  StreamBar bar{from.input};
  options.progress = [&bar](const predict::StreamProgress& progress) { bar(progress); };
  data::RecordStream records{from.input, from.name, from.options};
  const auto write = [&](const std::string& lines) { return output.write(lines); };
  return predict::answer_stream(records, predictor, write, options);
}

void check(const predict::StreamProgress& done, const cli::PredictFlags& flags) {
  if (done.wrong == 0) return;
  throw InputError{
      std::to_string(done.wrong) + " of " + std::to_string(done.records) + " records are wrong",
      {.object = flags.input_name()},
      "their answers say why"};
}

void label_records(Records records, const cli::FieldsOfRun& run, const cli::PredictFlags& flags,
                   const std::filesystem::path& base) {
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const auto load_in = [&](const std::string& precision) {
    return model::AnyPredictor{
        flags.model,
        {.device = device, .precision = model::precision_named(precision), .base = base}};
  };
  const auto predictor = load_in(flags.precision);
  if (predictor.precision() == model::Precision::int8) {
    log::log_on_stderr().lines(
        model::describe(model::Precision::int8, device, predictor.maps_in_bf16()));
  }
  if (flags.reads_stdin() && !run.empty()) {
    records.options =
        cli::options_for(records.input.beginning(), records.name, records.options, run);
  }
  const auto options = flags.stream_options(predictor.max_length(), predictor.usual_length());
  if (flags.compare.empty()) return check(answer(records, predictor, options), flags);
  const auto other = load_in(flags.compare);
  const predict::Compared compared{predictor, other};
  const auto done = answer(records, compared, options);
  std::cerr << name(predictor.precision()) << " compared with " << name(other.precision()) << ": "
            << compared.comparison().text() << '\n';
  check(done, flags);
}

/// Opens the file of records. Throws `InputError` if there is none.
OwnedDescriptor open_records(const std::string& file) {
  const int number = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) throw system_error<InputError>("cannot be read", file);
  return OwnedDescriptor{number};
}

/// Throws `InputError` if the input is a directory.
void demand_records(int input, const std::string& name) {
  struct ::stat status = {};
  if (::fstat(input, &status) != 0 || !S_ISDIR(status.st_mode)) return;
  throw InputError{"is a directory, not a file", {.object = name}, "name one file of records"};
}

/// Labels the records of a file. An error in its format or its fields is found before the model is
/// fetched and loaded.
void label_file(cli::PredictFlags flags) {
  flags.file = storage::fetch(flags.file, {log::log_on_stderr()}).string();
  const auto file = open_records(flags.file);
  demand_records(file.number, flags.file);
  Records records{.input = cli::PredictInput{{file.number, flags.file}},
                  .name = flags.file,
                  .options = flags.read_options()};
  const std::string& beginning = records.input.beginning();
  std::error_code none;
  const bool is_here = std::filesystem::exists(flags.model, none);
  if (!is_here) cli::check_beginning(beginning, flags.file, records.options);
  const auto found = storage::find_model(flags.model, {log::log_on_stderr()});
  flags.model = found.directory.string();
  const auto run = cli::FieldsOfRun::of_model(flags.model);
  records.options = cli::options_for(beginning, records.name, records.options, run);
  cli::check_beginning(beginning, flags.file, records.options);
  label_records(std::move(records), run, flags, found.base);
}

int predict_main(int argc, char** argv) {
  return cli::run([&] {
    cli::PredictFlags flags;
    if (!flags.parse(argc, argv)) return;
    if (!flags.reads_stdin()) return label_file(flags);
    demand_records(STDIN_FILENO, flags.input_name());
    const auto found = storage::find_model(flags.model, {log::log_on_stderr()});
    flags.model = found.directory.string();
    label_records({.input = cli::PredictInput{{STDIN_FILENO, flags.input_name()}},
                   .name = flags.input_name(),
                   .options = flags.read_options()},
                  cli::FieldsOfRun::of_model(flags.model), flags, found.base);
  });
}
