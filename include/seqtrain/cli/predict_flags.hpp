#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/cli/example_length.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/table_rows.hpp>
#include <seqtrain/predict/answer_columns.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/answer_writer.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/most_diverse.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/uncertainty.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/predict/zero_shot.hpp>

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
  std::vector<std::string> keep = {};
  std::string output_file = "-";
  std::optional<predict::AnswerFormat> output_format = {};
  double min_score = 0;
  std::int64_t most_uncertain = 0;
  predict::Uncertainty uncertainty = predict::Uncertainty::entropy;
  std::int64_t most_diverse = 0;
  std::string reference_file = "";
  std::string drift_file = "";
  bool explain = false;
  std::int64_t explain_passes = static_cast<std::int64_t>(predict::ExplainOptions{}.passes);
  bool strict = false;
  predict::CandidateLabels candidates = {};
  bool embed = false;
  std::int64_t truncate_dim = 0;
  bool normalize = false;
  std::string device = "auto";
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());

  /// Not a flag: the name that `reference_file` has in messages.
  std::string reference_name = "";
  /// Not a flag: the function that opens files in one more format, such as `parquet::open`.
  data::OpenFile open = nullptr;
  /// Not a flag: the function that creates Parquet files, or null.
  data::CreateTable create_table = nullptr;

  /// Fills the members from a command line. Returns false if help was asked for.
  bool parse(int argc, const char* const* argv) {
    cli::Flags flags{
        "predict",
        "labels or embeds texts: reads the records of a file or of stdin, and writes JSON lines, "
        "CSV or Parquet"};
    add_input(flags);
    add_answers(flags);
    add_reference(flags);
    add_zero_shot(flags);
    add_embeddings(flags);
    add_machine(flags);
    flags.take_argument("file");
    if (!flags.parse(argc, argv)) return false;
    cli::require(!model.empty(), "model", "is needed: the directory of a fine-tuned model");
    cli::require(batch_size >= 1, "batch-size", "must be at least 1");
    cli::require(top_k >= 0, "top-k", "must not be negative");
    cli::require_threads(threads);
    cli::require_columns(columns);
    cli::require(min_score >= 0 && min_score <= 1, "min-score", "must be 0 to 1");
    cli::require(most_uncertain >= 0, "most-uncertain", "must not be negative");
    cli::require(most_diverse >= 0, "most-diverse", "must not be negative");
    cli::require(most_diverse == 0 || most_uncertain == 0, "most-diverse",
                 "does not go with --most-uncertain: give that first, with --keep and an "
                 "--output-file, and then --most-diverse for this file");
    cli::require(most_uncertain > 0 || !flags.is_given("uncertainty"), "uncertainty",
                 "is the order of --most-uncertain: give that too");
    for (const auto& name : keep) {
      cli::require(!name.empty(), "keep", "has an empty name");
      cli::require(std::ranges::count(keep, name) == 1, "keep", "names '" + name + "' twice");
    }
    require_output_file();
    require_parquet();
    require_reference();
    require_candidates();
    require_embeddings();
    require_explanations(flags.is_given("explain-passes"));
    return true;
  }

  /// Returns what is done to embeddings if texts get these in place of labels.
  [[nodiscard]] std::optional<predict::EmbeddingOptions> embedding() const {
    if (!embed) return {};
    return predict::EmbeddingOptions{.size = static_cast<std::size_t>(truncate_dim),
                                     .normalize = normalize};
  }

  /// Tells whether texts get labels for which the model was not trained.
  [[nodiscard]] bool zero_shot() const { return !candidates.labels.empty(); }

  [[nodiscard]] bool reads_stdin() const { return file == "-"; }
  /// Returns the name of the records in errors.
  [[nodiscard]] std::string input_name() const { return reads_stdin() ? "stdin" : file; }

  [[nodiscard]] data::ReadOptions read_options() const {
    return {.text_field = text_field,
            .pair_field = pair_field,
            .columns = columns,
            .labelled = false,
            .format = format,
            .empty_lines = true,
            .open = open,
            .keep = keep};
  }

  /// Throws `InputError` that names the flag if a model for this task has no such answers.
  void require_answers(const predict::Task& task) const {
    const bool one = task.problem_type == ProblemType::single_label && task.labels.size() > 1;
    const std::string problem = "is for models that choose between labels";
    cli::require(top_k == 0 || task.problem_type != ProblemType::regression, "top-k",
                 "is for models with labels; this one answers a number");
    cli::require(min_score == 0 || one, "min-score", problem + ", one for each text");
    cli::require(most_uncertain == 0 || one || task.problem_type == ProblemType::multi_label,
                 "most-uncertain", problem);
  }

  /// Returns the form of the answers. They have the values that `kept` names.
  [[nodiscard]] predict::AnswerOptions answer_options(const std::vector<std::string>& kept) const {
    predict::AnswerOptions options{.format = format_of_answers(),
                                   .top_k = static_cast<std::size_t>(top_k),
                                   .min_score = min_score,
                                   .keep = kept,
                                   .line = most_diverse > 0};
    if (most_uncertain > 0) options.uncertainty = uncertainty;
    return options;
  }

  /// Returns the format of the answers, which the name of their file decides if no flag does.
  [[nodiscard]] predict::AnswerFormat format_of_answers() const {
    const auto extension = std::filesystem::path{output_file}.extension();
    if (output_format) return *output_format;
    if (extension == ".csv") return predict::AnswerFormat::csv;
    if (extension == ".parquet") return predict::AnswerFormat::parquet;
    return extension == ".npy" ? predict::AnswerFormat::npy : predict::AnswerFormat::json_lines;
  }

  /// Returns how texts are chosen that are as different as possible, for a model with these limits
  /// of ids: see `stream_options`.
  [[nodiscard]] predict::DiverseOptions diverse_options(std::size_t most, std::size_t usual) const {
    return {.count = static_cast<std::size_t>(most_diverse),
            .max_length = example_length(max_length, static_cast<std::int64_t>(most), usual),
            .batch_size = static_cast<std::size_t>(batch_size),
            .threads = static_cast<std::size_t>(threads),
            .strict = strict || format_of_answers() == predict::AnswerFormat::npy};
  }

  /// Returns the options for a model that takes at most `most` ids, and `usual` ids unless the
  /// flags say otherwise.
  [[nodiscard]] predict::StreamOptions stream_options(std::size_t most, std::size_t usual) const {
    predict::StreamOptions options{
        .max_length = example_length(max_length, static_cast<std::int64_t>(most), usual),
        .strict = strict || format_of_answers() == predict::AnswerFormat::npy,
        .most_uncertain = static_cast<std::size_t>(most_uncertain),
        .window = {.batch_size = static_cast<std::size_t>(batch_size)}};
    if (explain) {
      options.window.explain = {.passes = static_cast<std::size_t>(explain_passes)};
      options.window.most_batches = 1;  // a text takes as long as many without explanations
    }
    return options;
  }

 private:
  void add_input(Flags& flags) {
    flags
        .add("model", model,
             "fine-tuned model: a directory in Hugging Face's layout, a run's directory, a result "
             "of languages, an address such as gs://bucket/path, or a name on the hub")
        .add("file", file,
             std::string{"records to label: a file, also with .gz or .zst, "} +
                 (open ? "Parquet, " : "") +
                 "a directory of *.txt, or an address (-: stdin); the name of the flag may be left "
                 "out: "
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
        .add("text-field", text_field,
             "field of the text, or several with commas between them, whose texts are joined by a "
             "line break (default: recognised)")
        .add("pair-field", pair_field, "field of the second text")
        .add("columns", columns, cli::columns_help);
  }

  void add_answers(Flags& flags) {
    flags
        .add("top-k", top_k, "number of best labels to write scores of (0: all scores, and logits)")
        .add("keep", keep, "fields of the records that their answers have too: id,date")
        .add("output-file", output_file, "file for the answers (-: stdout)")
        .add(
            "output-format", output_format,
            {{"auto", {}},
             {"jsonl", predict::AnswerFormat::json_lines},
             {"csv", predict::AnswerFormat::csv},
             {"parquet", predict::AnswerFormat::parquet},
             {"npy", predict::AnswerFormat::npy}},
            "jsonl, csv, parquet, npy (numpy's, for embeddings), or auto (by the end of the output "
            "file's name, else jsonl)")
        .add("min-score", min_score,
             "least score of a label: a text whose best label has a lower score gets none")
        .add("most-uncertain", most_uncertain,
             "number of texts to answer: those about which the model is least certain, in this "
             "order, to be labelled next (0: all, in the order of the input)")
        .add("uncertainty", uncertainty,
             {{"entropy", predict::Uncertainty::entropy}, {"margin", predict::Uncertainty::margin}},
             "measure for --most-uncertain: entropy of the scores, or margin between the two best")
        .add("most-diverse", most_diverse,
             "number of texts to answer: those that differ most in their embeddings, so that each "
             "text is near one of them, to be labelled next (0: all, in the order of the input)")
        .add_switch("explain", explain,
                    "also write the share that each word has in the logit of the text's label")
        .add(
            "explain-passes", explain_passes,
            "most texts, with some of the words each, that the model reads for --explain of a text")
        .add_switch("strict", strict, "end at the first wrong record");
  }

  void add_reference(Flags& flags) {
    flags
        .add("reference-file", reference_file,
             "records to compare the others with, such as the training file: how far texts and "
             "predicted labels have drifted is said on stderr")
        .add("drift-file", drift_file, "also write the drift from --reference-file as JSON");
  }

  void add_zero_shot(Flags& flags) {
    flags
        .add("candidate-labels", candidates.labels,
             "labels for which the model was not trained, with a model of natural language "
             "inference (zero-shot classification): politics,sport")
        .add("hypothesis-template", candidates.hypothesis,
             "the sentence about a text that is true if it has the label in the place of {}")
        .add_switch("multi-label", candidates.multi_label,
                    "judge each candidate label alone: a text may have several, or none");
  }

  void add_embeddings(Flags& flags) {
    flags
        .add_switch(
            "embed", embed,
            "write the embedding of each text in place of a label, as sentence-transformers "
            "computes it")
        .add("truncate-dim", truncate_dim,
             "numbers of an embedding to keep, for models that were trained to be cut (0: all)")
        .add_switch("normalize", normalize, "divide each embedding by its 2-norm");
  }

  void add_machine(Flags& flags) {
    flags
        .add("precision", precision,
             "fp32, bf16, fp16 (on a GPU), int8 (of an encoder on a processor), or " +
                 cli::auto_precision)
        .add("compare", compare,
             "second precision to predict the records in; the last line on stderr says how far the "
             "answers differ")
        .add("device", device, cli::device_help)
        .add("threads", threads, "threads that compute");
  }

  /// Throws `InputError` that names a flag which does not go with `--embed`, or needs it.
  void require_embeddings() const {
    cli::require(truncate_dim >= 0, "truncate-dim", "must not be negative");
    cli::require(embed || truncate_dim == 0, "truncate-dim", "is for --embed");
    cli::require(embed || !normalize, "normalize", "is for --embed");
    const auto answers = format_of_answers();
    const bool is_npy = answers == predict::AnswerFormat::npy;
    const char* const chosen_by = output_format ? "output-format" : "output-file";
    cli::require(embed || !is_npy, chosen_by,
                 "npy is for --embed; labels have jsonl, csv and parquet");
    cli::require(!is_npy || output_file != "-", "output-format", "npy needs an --output-file");
    cli::require(!is_npy || most_diverse == 0, "most-diverse",
                 "has no place in a file of numpy's, whose rows have no names");
    cli::require(!is_npy || keep.empty(), "keep", "has no place in a file of numpy's");
    const std::string problem = "is for labels, not for --embed";
    cli::require(!embed || answers != predict::AnswerFormat::csv, chosen_by,
                 "csv is for labels; embeddings have jsonl, parquet and npy");
    cli::require(!embed || !zero_shot(), "candidate-labels", problem);
    cli::require(!embed || top_k == 0, "top-k", problem);
    cli::require(!embed || min_score == 0, "min-score", problem);
    cli::require(!embed || most_uncertain == 0, "most-uncertain", problem);
    cli::require(!embed || compare.empty(), "compare", problem);
  }

  /// Tells whether two names are those of one file, which need not exist.
  [[nodiscard]] static bool is_one_file(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty() || a == "-" || b == "-") return false;
    std::error_code none;
    if (std::filesystem::equivalent(a, b, none)) return true;
    const auto whole = [&](const std::string& name) {
      return std::filesystem::weakly_canonical(std::filesystem::absolute(name, none), none);
    };
    return !whole(a).empty() && whole(a) == whole(b);
  }

  /// Throws `InputError` that names a flag which does not go with `--reference-file`, or needs it.
  void require_reference() const {
    const bool given = !reference_file.empty();
    cli::require(given || drift_file.empty(), "drift-file",
                 "needs a --reference-file to compare with");
    if (!given) return;
    cli::require(reference_file != "-", "reference-file", "is a file, not stdin");
    for (const auto& [is_given, other] :
         {std::pair{explain, "--explain"}, std::pair{!compare.empty(), "--compare"}}) {
      cli::require(!is_given, "reference-file",
                   std::string{"does not go with "} + other + ": give them in turn");
    }
    cli::require(most_diverse == 0, "reference-file",
                 "does not go with --most-diverse, which answers a choice of texts");
    const std::filesystem::path place{drift_file};
    std::error_code none;
    cli::require(!is_one_file(output_file, reference_file), "output-file",
                 "is the --reference-file, which is read after the answers are written");
    for (const auto& [other, its_name] :
         {std::pair{file, "the input"}, std::pair{reference_file, "the --reference-file"},
          std::pair{output_file, "the --output-file"}}) {
      cli::require(!is_one_file(drift_file, other), "drift-file",
                   std::string{"is "} + its_name + ": name another");
    }
    cli::require(!std::filesystem::is_directory(place, none), "drift-file", "is a directory");
    cli::require(
        !place.has_parent_path() || std::filesystem::is_directory(place.parent_path(), none),
        "drift-file", "is in a directory that does not exist: " + place.parent_path().string());
  }

  /// Throws `InputError` that names a flag which does not go with `--explain`, or needs it.
  void require_explanations(bool passes_given) const {
    cli::require(explain || !passes_given, "explain-passes", "is for --explain: give that too");
    if (!explain) return;
    using predict::ExplainOptions;
    cli::require(explain_passes >= static_cast<std::int64_t>(ExplainOptions::fewest) &&
                     explain_passes <= static_cast<std::int64_t>(ExplainOptions::most),
                 "explain-passes",
                 "must be " + std::to_string(ExplainOptions::fewest) + " to " +
                     std::to_string(ExplainOptions::most));
    cli::require(!embed, "explain", "is for labels, not for --embed");
    cli::require(format_of_answers() == predict::AnswerFormat::json_lines, "explain",
                 "is for answers in JSON lines, which have room for lists of words");
    cli::require(compare.empty(), "explain", "does not go with --compare: give them in turn");
    cli::require(
        most_uncertain == 0, "explain",
        "does not go with --most-uncertain, which reads all texts first: explain the texts "
        "that it writes");
  }

  /// Removes the blanks around candidate labels. Throws `InputError` if they are wrong.
  void require_candidates() {
    const bool alone =
        candidates.multi_label || candidates.hypothesis != predict::CandidateLabels{}.hypothesis;
    cli::require(zero_shot() || !alone,
                 candidates.multi_label ? "multi-label" : "hypothesis-template",
                 "is for --candidate-labels");
    for (std::string& label : candidates.labels) {
      label.erase(0, label.find_first_not_of(' '));
      label.erase(label.find_last_not_of(' ') + 1);
      cli::require(!label.empty(), "candidate-labels", "has an empty label");
    }
    const std::string twice = candidates.repeated().value_or("");
    cli::require(twice.empty(), "candidate-labels", "names '" + twice + "' twice");
    cli::require(!zero_shot() || pair_field.empty(), "pair-field",
                 "does not go with --candidate-labels, which single texts get");
    cli::require(candidates.has_place(), "hypothesis-template",
                 "must have {} once, where the label is put: This text is about {}.");
  }

  /// Throws `InputError` if the output file cannot be there.
  void require_output_file() const {
    if (output_file == "-") return;
    const std::filesystem::path place{output_file};
    std::error_code none;
    const auto directory = place.has_parent_path() ? place.parent_path() : ".";
    cli::require(std::filesystem::is_directory(directory, none), "output-file",
                 "is in a directory that does not exist: " + directory.string());
    cli::require(place.has_filename() && !std::filesystem::is_directory(place, none), "output-file",
                 "is a directory");
    constexpr std::array<std::string_view, 6> others{".arrow", ".tsv", ".npz",
                                                     ".xlsx",  ".gz",  ".zst"};
    const std::string extension = place.extension().string();
    cli::require(output_format || std::ranges::count(others, extension) == 0, "output-file",
                 "ends with " + extension +
                     ", a format that answers do not have; end it with .jsonl, .csv, .parquet "
                     "or, for embeddings, .npy, or name one by --output-format");
  }

  /// Throws `InputError` if the answers are to be Parquet and cannot be.
  void require_parquet() const {
    if (format_of_answers() != predict::AnswerFormat::parquet) return;
    cli::require(output_file != "-", "output-format", "parquet needs an --output-file");
    cli::require(create_table != nullptr, output_format ? "output-format" : "output-file",
                 "is Parquet, which this program is built without: pip install pyarrow and build "
                 "it again, or write .jsonl or .csv");
  }
};

}  // namespace seqtrain::cli
