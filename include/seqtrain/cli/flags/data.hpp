#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::cli {

/// The help of `--columns`.
constexpr const char* columns_help =
    "names of the columns of .tsv and .csv files without a header line: text,label; - is a column "
    "to skip, a last ... stands for any more columns";

/// Throws an `InputError` that names the flag unless names of columns can be told apart.
inline void require_columns(const std::vector<std::string>& columns) {
  for (const auto& name : columns) {
    require(!name.empty(), "columns", "has an empty name: - is a column to skip");
    require(name == "-" || std::ranges::count(columns, name) == 1, "columns",
            "names '" + name + "' twice");
    require(name != "..." || &name == &columns.back(), "columns", "has ... before its end");
  }
  require(columns.empty() || columns.front() != "...", "columns", "names no column");
}

/// A part of a cross-validation: a run that holds these rows of the training file out.
struct Fold {
  std::int64_t number = 1;             ///< counted from 1
  std::vector<std::size_t> rows = {};  ///< ascending
};

/// The flags about examples. An empty string means that the flag is not given.
struct DataFlags {
  std::string train_file = "examples/data/nli/train.jsonl";
  std::string dev_file = "examples/data/nli/dev.jsonl";
  std::string test_file = "";
  std::string dataset = "";
  std::string train_split = "";
  std::string dev_split = "";
  std::string test_split = "";
  double dev_fraction = 0;
  double fraction_of_train_data = 1;
  std::int64_t max_length = 0;
  std::optional<text::LongTexts> long_texts = {};
  std::int64_t stride = 0;
  text::WindowPooling window_pooling = text::WindowPooling::mean;
  std::string problem_type = "";
  std::vector<std::string> labels = {};
  bool join_labels = false;
  bool soft_labels = false;
  bool skip_unlabelled = false;
  std::string split_field = "";
  std::string group_field = "";
  std::int64_t folds = 0;
  std::string text_field = "";
  std::string pair_field = "";
  std::string label_field = "";
  std::vector<std::string> columns = {};

  /// Not a flag: no dev file was given, so `dev_fraction` is the default for a file of one's own.
  bool holds_out_by_default = false;

  /// Not a flag: the part of a cross-validation that this run is.
  std::optional<Fold> fold = {};

  /// Not a flag: the model is scored by its loss alone, and examples need no labels.
  bool scored_by_loss = false;

  /// Not a flag: each text of an example is encoded as a row of its own.
  bool texts_apart = false;

  /// Not a flag: tells whether an example is read. By default all are.
  std::function<bool(const data::Example&)> reads = {};

  /// Not a flag: the function that opens files in one more format, such as `parquet::open`.
  data::OpenFile open = nullptr;

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    add_files(flags);
    add_folds(flags);
    add_lengths(flags);
    add_fields(flags);
  }

  /// Adds the flags without those about folds and lengths in ids as a section of the help.
  void add_examples_to(Flags& flags) {
    add_files(flags);
    add_fields(flags);
  }
  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    for (const auto& [name, split] : {std::pair{"train-split", &train_split},
                                      {"dev-split", &dev_split},
                                      {"test-split", &test_split}}) {
      require(split->empty() || !dataset.empty(), name, "needs --dataset");
    }
    require_columns(columns);
    require(stride >= 0, "stride", "must not be negative");
    require(stride == 0 || long_texts == text::LongTexts::windows, "stride",
            "needs --long-texts windows");
    require(window_pooling == text::WindowPooling::mean || long_texts == text::LongTexts::windows,
            "window-pooling", "needs --long-texts windows");
    require(group_field.empty() || dev_fraction > 0, "group-field",
            "is for examples that are held out by --dev-fraction or --folds");
    require(folds == 0 || (folds >= 2 && folds <= 1000), "folds", "must be 0, or 2 to 1000");
    require(dev_fraction == 0 || dev_split.empty(), "dev-fraction",
            "does not go with --dev-split: it takes the dev examples from the training split");
    require(dev_fraction >= 0 && dev_fraction < 1, "dev-fraction",
            "must be at least 0 and below 1");
    require(fraction_of_train_data > 0 && fraction_of_train_data <= 1, "fraction-of-train-data",
            "must be above 0 and at most 1");
    require(problem_type.empty() || problem_type_named(problem_type), "problem-type",
            "is unknown: use " + listed_problem_types());
  }

  /// Returns the options for reading a file, or the records of a split of the training file if
  /// there is a `--split-field`.
  [[nodiscard]] data::ReadOptions read_options(data::Split split = data::Split::all) const {
    const bool of_split = split != data::Split::all && !split_field.empty();
    // Only `reads` may then look at labels.
    const bool needs_none = has_no_labels();
    return {.text_field = text_field,
            .pair_field = pair_field,
            .label_field = label_field,
            .columns = columns,
            .labelled = !needs_none || reads || !label_field.empty(),
            .soft_labels = soft_labels,
            .label_optional = needs_none,
            .open = open,
            .skip_unlabelled = skip_unlabelled,
            .split_field = of_split ? split_field : "",
            .split = of_split ? split : data::Split::all,
            .reads = reads};
  }

  /// Tells whether labels in files are ignored.
  [[nodiscard]] bool has_no_labels() const { return scored_by_loss && problem_type.empty(); }

 private:
  void add_files(Flags& flags) {
    flags.section("Data")
        .add("train-file", train_file,
             open ? "examples to train on: .parquet, or .jsonl, .tsv or .csv, also with .gz or "
                    ".zst; several files separated by commas; or a directory with <label>/*.txt"
                  : "examples to train on: .jsonl, .tsv or .csv, also with .gz or .zst; several "
                    "files separated by commas; or a directory with <label>/*.txt")
        .add("dev-file", dev_file,
             "examples to evaluate on after each epoch (default with a --train-file of your own: a "
             "tenth of its examples, held out)")
        .add("test-file", test_file, "examples to evaluate on once, at the end (default: no test)")
        .add("dataset", dataset,
             "data set on the hub, org/name[:config][@revision], or a directory in the layout of "
             "such a data set; replaces the files")
        .add("train-split", train_split, "split of the data set to train on (default: train)")
        .add("dev-split", dev_split,
             "split of the data set to evaluate on after each epoch (default: validation, or the "
             "usual split of a known data set)")
        .add("test-split", test_split,
             "split of the data set to evaluate on once, at the end (default: no test)")
        .add("dev-fraction", dev_fraction,
             "share of the training file's examples to hold out and evaluate on instead of a dev "
             "file, with about the same share of each label")
        .role(determines_results)
        .add("split-field", split_field,
             "field of the training file that says whether a record is for train, dev (or "
             "validation) or test; replaces --dev-file and --test-file")
        .add("group-field", group_field,
             "field of the training file that names the group of a record; --dev-fraction and "
             "--folds hold out whole groups")
        .add("fraction-of-train-data", fraction_of_train_data,
             "share of the training examples to use: of each label about this share, spread over "
             "the file");
  }

  void add_folds(Flags& flags) {
    flags.add("folds", folds,
              "cross-validate: train this many models, each on the training file without one of so "
              "many parts, and say how good they are and which labels are probably wrong (0: train "
              "one model)");
  }

  void add_lengths(Flags& flags) {
    flags
        .add("max-length", max_length,
             "most ids of an example (0: the model's maximum, or the tokenizer's if that is less)")
        .add("long-texts", long_texts,
             {{"", {}},
              {"truncate", text::LongTexts::truncate},
              {"tail", text::LongTexts::tail},
              {"head-tail", text::LongTexts::head_tail},
              {"windows", text::LongTexts::windows}},
             "what a longer example keeps: truncate: its beginning; tail: its end; head-tail: a "
             "quarter from its beginning and the rest from its end; windows: all of it, read in "
             "windows of --max-length ids (default: what the tokenizer's files say)")
        .add("stride", stride, "ids that a window has in common with the one before it")
        .add("window-pooling", window_pooling,
             {{"mean", text::WindowPooling::mean}, {"max", text::WindowPooling::max}},
             "a text's logits are the mean of its windows' logits, or for each label the largest");
  }

  void add_fields(Flags& flags) {
    flags
        .add("problem-type", problem_type,
             "regression, single_label_classification or multi_label_classification (default: the "
             "model's, else single_label_classification)")
        .add("labels", labels,
             "names of the labels in the order of their ids, or of the targets of a regression: "
             "a,b,c, or a file with one a line")
        .add_switch("join-labels", join_labels,
                    "labels of the training file that differ only in case, in blanks around them "
                    "or in how a number is written are one label, called as most examples call it")
        .add_switch("soft-labels", soft_labels,
                    "a label is a probability for each label, as several people give, or "
                    "--label-field names for each label the field with the number of people who "
                    "chose it")
        .add_switch("skip-unlabelled", skip_unlabelled,
                    "leave out records whose label is empty or missing")
        .add("text-field", text_field,
             "field or column of the text, or several with commas between them, whose texts are "
             "joined by a line break (default: recognised)")
        .add("pair-field", pair_field, "field or column of the second text")
        .add("label-field", label_field,
             "field or column of the label, or several with commas between them: a column of 0 and "
             "1 for each label, or of numbers for each target of a regression")
        .add("columns", columns, columns_help);
  }
};

}  // namespace seqtrain::cli
