#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <unistd.h>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/predict_records.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/table_rows.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/predict/answer_columns.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/answer_writer.hpp>
#include <seqtrain/predict/most_diverse.hpp>
#include <seqtrain/predict/npy_file.hpp>
#include <seqtrain/predict/predictor.hpp>

namespace seqtrain::cli {

/// Shows the progress of a stream of records on a terminal.
class StreamBar {
 public:
  /// `size` is the number of bytes of the input, or 0 if it is not known.
  explicit StreamBar(std::int64_t size) : size_{size} {}

  void operator()(const predict::StreamProgress& progress) {
    draw("predict", size_ > 0 ? progress.bytes : progress.records, size_, progress.records);
  }
  /// Draws how many of the texts that `most_diverse` chooses are chosen.
  void choosing(std::size_t chosen, std::size_t of) {
    if (chosen == 1) begin_ = std::chrono::steady_clock::now();
    const auto done = static_cast<std::int64_t>(chosen);
    draw("choose", done, static_cast<std::int64_t>(of), done);
  }

 private:
  void draw(const char* name, std::int64_t done, std::int64_t total, std::int64_t examples) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
    const double rate = static_cast<double>(examples) / time.count();
    bar_.draw({.name = name,
               .done = done,
               .total = total,
               .seconds = time.count(),
               .rates = {{.per_second = rate, .unit = "examples/s"}}});
  }

  log::Bar<> bar_{{.enabled = ::isatty(STDERR_FILENO) == 1 && !log::stdout_is_terminal()},
                  std::cerr};
  std::int64_t size_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Replaces records by those that `options` choose, and says on stderr how well they cover all.
/// `size` is the number of bytes of the input, or 0 if it is not known.
template <predict::Predictor P>
void choose_diverse(AnyRecords& records, std::int64_t size, const P& embedder,
                    predict::DiverseOptions options) {
  auto chosen = [&] {
    StreamBar bar{size};
    options.progress = [&bar](const predict::StreamProgress& progress) { bar(progress); };
    options.choosing = [&bar](std::size_t done, std::size_t of) { bar.choosing(done, of); };
    return std::visit([&](auto& each) { return predict::most_diverse(each, embedder, options); },
                      records);
  }();
  const double cosine = 1 - chosen.radius * chosen.radius / 2;
  std::cerr << chosen.chosen << " of " << chosen.texts
            << " texts are chosen: the embedding of each text has a cosine of at least "
            << flag_text(std::floor(cosine * 1000) / 1000) << " with that of one of them\n";
  records = std::move(chosen.records);
}

/// Reads records and writes their answers to stdout or to a file, which appears when all of them
/// are written. `size` is the number of bytes of the input, or 0 if it is not known.
template <predict::Predictor P>
predict::StreamProgress answer_records(AnyRecords& records, std::int64_t size, const P& predictor,
                                       const PredictFlags& flags, predict::StreamOptions options) {
  const OutputDescriptor output{STDOUT_FILENO, "stdout"};
  std::optional<AtomicFile> file;
  std::optional<predict::NpyFile> table;
  std::unique_ptr<data::TableFile> rows;
  if (options.window.answer.format == predict::AnswerFormat::npy) {
    table.emplace(flags.output_file);
  } else if (options.window.answer.format == predict::AnswerFormat::parquet) {
    const predict::AnswerWriter writer{predictor.task(), options.window.answer};
    rows = flags.create_table(flags.output_file, writer.columns());
  } else if (flags.output_file != "-") {
    file.emplace(flags.output_file);
  }
  StreamBar bar{size};
  options.progress = [&bar](const predict::StreamProgress& progress) { bar(progress); };
  const auto write = [&](const std::string& lines) {
    if (file) {
      file->write(lines);
    } else if (table) {
      table->write(lines);
    } else if (rows) {
      rows->write(lines);
    } else {
      return output.write(lines);
    }
    return true;
  };
  const auto done = std::visit(
      [&](auto& each) { return predict::answer_stream(each, predictor, write, options); }, records);
  if (file) file->commit();
  if (rows) rows->commit();
  if (table) table->commit(static_cast<std::uint64_t>(done.records));
  return done;
}

/// Writes to stderr how many texts get no label. Throws `InputError` if records are wrong.
inline void check_answered(const predict::StreamProgress& done, const PredictFlags& flags) {
  if (flags.min_score > 0) {
    std::cerr << done.abstained << " of " << done.answered
              << " texts get no label: their best score is below " << flag_text(flags.min_score)
              << '\n';
  }
  if (done.wrong == 0) return;
  throw InputError{
      std::to_string(done.wrong) + " of " + std::to_string(done.records) + " records are wrong",
      {.object = flags.input_name()},
      "their answers say why"};
}

/// Calls `tell`, which says more about the answers, and then `check_answered`, also if `tell`
/// throws. If both throw, the message of `tell` is written to stderr.
template <class Tell>
void check_answered_after(const Tell& tell, const predict::StreamProgress& done,
                          const PredictFlags& flags) {
  try {
    tell();
  } catch (const std::exception& error) {
    if (done.wrong > 0) std::cerr << error.what() << '\n';
    check_answered(done, flags);
    throw;
  }
  check_answered(done, flags);
}

}  // namespace seqtrain::cli
