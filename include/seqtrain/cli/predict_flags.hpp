#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <seqtrain/cli/example_length.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/predict/answer_stream.hpp>

namespace seqtrain::cli {

/// The flags of a program that labels texts.
struct PredictFlags {
  std::string model = "";
  std::string file = "-";
  std::optional<data::Format> format = {};
  std::int64_t batch_size = 32;
  std::int64_t max_length = 0;
  std::string text_field = "";
  std::string pair_field = "";
  std::vector<std::string> columns = {};
  std::string precision = "fp32";
  std::string compare = "";
  std::int64_t top_k = 0;
  bool strict = false;
  std::string device = "auto";
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());

  /// Fills the members from a command line. Returns false if help was asked for.
  bool parse(int argc, const char* const* argv) {
    cli::Flags flags{
        "predict", "labels texts: reads the records of a file or of stdin, and writes JSON lines"};
    flags
        .add("model", model,
             "fine-tuned model: a directory in Hugging Face's layout, a run's directory, a result "
             "of languages, gs://, or a name on the hub")
        .add("file", file,
             "records to label, a file or gs:// (-: stdin); the name of the flag may be left out: "
             "predict --model runs/mine new.csv")
        .add("format", format,
             {{"auto", {}},
              {"jsonl", data::Format::json_lines},
              {"tsv", data::Format::tsv},
              {"csv", data::Format::csv},
              {"lines", data::Format::lines}},
             "jsonl, tsv, csv, lines (one text a line), or auto (recognised)")
        .add("batch-size", batch_size, "examples that are computed together")
        .add("max-length", max_length,
             "most ids of an example (0: the model's maximum, or the tokenizer's if that is less)")
        .add("text-field", text_field, "field of the text (default: recognised)")
        .add("pair-field", pair_field, "field of the second text")
        .add("columns", columns, cli::columns_help)
        .add("precision", precision,
             "fp32, bf16, fp16 (on a GPU), int8 (of an encoder on a processor), or " +
                 cli::auto_precision)
        .add("compare", compare,
             "second precision to predict the records in; the last line on stderr says how far the "
             "answers differ")
        .add("top-k", top_k, "number of best labels to write scores of (0: all scores, and logits)")
        .add_switch("strict", strict, "end at the first wrong record")
        .add("device", device, cli::device_help)
        .add("threads", threads, "threads that compute");
    flags.take_argument("file");
    if (!flags.parse(argc, argv)) return false;
    cli::require(!model.empty(), "model", "is needed: the directory of a fine-tuned model");
    cli::require(batch_size >= 1, "batch-size", "must be at least 1");
    cli::require(top_k >= 0, "top-k", "must not be negative");
    cli::require_threads(threads);
    cli::require_columns(columns);
    static_cast<void>(read_options());
    return true;
  }

  [[nodiscard]] bool reads_stdin() const { return file == "-"; }
  /// Returns the name of the records in errors.
  [[nodiscard]] std::string input_name() const { return reads_stdin() ? "stdin" : file; }

  [[nodiscard]] data::ReadOptions read_options() const {
    return {.text_field = text_field,
            .pair_field = pair_field,
            .columns = columns,
            .labelled = false,
            .format = format,
            .empty_lines = true};
  }

  /// Returns the options for a model that takes at most `most` ids, and `usual` ids unless the
  /// flags say otherwise.
  [[nodiscard]] predict::StreamOptions stream_options(std::size_t most, std::size_t usual) const {
    return {.max_length = example_length(max_length, static_cast<std::int64_t>(most), usual),
            .strict = strict,
            .window = {.batch_size = static_cast<std::size_t>(batch_size),
                       .top_k = static_cast<std::size_t>(top_k)}};
  }
};

}  // namespace seqtrain::cli
