#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_input.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/example_stream.hpp>
#include <seqtrain/data/is_parquet.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/data/text_files.hpp>
#include <seqtrain/predict/most_diverse.hpp>

namespace seqtrain::cli {

/// The records of a stream, a table in another format, or a directory of texts, or some that were
/// chosen of them.
using AnyRecords = std::variant<data::RecordStream<PredictInput>, data::ExampleStream,
                                data::TextFiles, predict::KeptRecords>;

/// Records to predict, and the model for them.
struct PredictTask {
  PredictFlags flags = {};          ///< `model` is a directory
  std::filesystem::path base = {};  ///< the directory of the model's base, or ""
  std::int64_t size = 0;            ///< bytes of the input; 0 if it is not known
  /// Opens the records, once. A stream is not waited for before that.
  std::function<AnyRecords()> open = {};
};

/// Finds a model, names its directory in the flags and returns the directory of its base.
using FindModel = std::function<std::filesystem::path(PredictFlags& flags)>;

namespace detail {

/// Tells whether the file is to be opened by `flags.open`, because it is Parquet.
[[nodiscard]] inline bool reads_parquet(const PredictFlags& flags) {
  std::error_code none;
  if (flags.open == nullptr || flags.format || std::filesystem::is_fifo(flags.file, none)) {
    return false;
  }
  return data::is_parquet(data::split_files(flags.file));
}

[[nodiscard]] inline PredictTask parquet_task(PredictFlags flags, const FindModel& find_model) {
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
  PredictTask task{.base = find_model(flags)};
  const auto run = FieldsOfRun::of_model(flags.model);
  const auto records =
      std::make_shared<data::ExampleStream>(open(options_for(given, run, can_read)));
  task.size = records->size();
  task.open = [records] { return AnyRecords{std::move(*records)}; };
  task.flags = std::move(flags);
  return task;
}

[[nodiscard]] inline PredictTask directory_task(PredictFlags flags, const FindModel& find_model) {
  data::refuse_fields(flags.read_options(), flags.file);
  const auto records = std::make_shared<data::TextFiles>(flags.file);
  PredictTask task{.base = find_model(flags), .size = records->size()};
  task.open = [records] { return AnyRecords{std::move(*records)}; };
  task.flags = std::move(flags);
  return task;
}

/// Returns the options for reading an input with the fields of the model's run.
[[nodiscard]] inline data::ReadOptions options_for_beginning(const std::string& beginning,
                                                             const PredictFlags& flags) {
  const auto can_read = [&](const data::ReadOptions& options) {
    return fits(beginning, flags.input_name(), options);
  };
  return options_for(flags.read_options(), FieldsOfRun::of_model(flags.model), can_read);
}

[[nodiscard]] inline PredictTask stream_task(PredictFlags flags, const FindModel& find_model) {
  const auto input = std::make_shared<PredictInput>(PredictInput::of_file(flags.file));
  const std::string& beginning = input->beginning();
  std::error_code none;
  if (!std::filesystem::exists(flags.model, none)) {
    check_beginning(beginning, flags.file, flags.read_options());
  }
  PredictTask task{.base = find_model(flags)};
  const auto options = options_for_beginning(beginning, flags);
  check_beginning(beginning, flags.file, options);
  task.size = input->size().value_or(0);
  task.open = [input, options, file = flags.file] {
    return AnyRecords{data::RecordStream{std::move(*input), file, options}};
  };
  task.flags = std::move(flags);
  return task;
}

}  // namespace detail

/// Finds the model for the records of a file, which is on this machine. Throws `InputError` if the
/// format or the fields of the file are wrong, if that can be seen before `find_model` is called.
[[nodiscard]] inline PredictTask task_of_file(PredictFlags flags, const FindModel& find_model) {
  std::error_code none;
  if (detail::reads_parquet(flags)) return detail::parquet_task(std::move(flags), find_model);
  if (std::filesystem::is_directory(flags.file, none)) {
    return detail::directory_task(std::move(flags), find_model);
  }
  return detail::stream_task(std::move(flags), find_model);
}

/// Finds the model for the records of stdin.
[[nodiscard]] inline PredictTask task_of_stdin(PredictFlags flags, const FindModel& find_model) {
  struct ::stat status = {};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISDIR(status.st_mode)) {
    throw InputError{"is a directory, not a file", {.object = "stdin"}, "name it by --file"};
  }
  PredictTask task{.base = find_model(flags)};
  const auto input =
      std::make_shared<PredictInput>(InputDescriptor{STDIN_FILENO, flags.input_name()});
  task.size = input->size().value_or(0);
  task.open = [input, flags] {
    auto options = flags.read_options();
    if (!FieldsOfRun::of_model(flags.model).empty()) {
      options = detail::options_for_beginning(input->beginning(), flags);
    }
    return AnyRecords{data::RecordStream{std::move(*input), flags.input_name(), options}};
  };
  task.flags = std::move(flags);
  return task;
}

}  // namespace seqtrain::cli
