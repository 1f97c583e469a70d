#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/text_similarity.hpp>

namespace seqtrain::data {

/// The format of a file of records.
enum class Format {
  json_lines,  ///< one JSON object in each line
  tsv,         ///< cells separated by tabs, with a header unless `ReadOptions::columns` is given
  csv,         ///< RFC 4180, likewise
  lines        ///< each non-empty line is a text without a label
};

/// A part of the examples of a file, or all of them.
enum class Split { all, train, dev, test };

class ExampleFile;
struct Example;
struct ReadOptions;

/// A function that opens one file, or several files that form a split, in a format that another
/// component reads. It returns null if it does not read the format.
using OpenFile = std::unique_ptr<ExampleFile> (*)(const std::filesystem::path& place,
                                                  const ReadOptions& options);

/// The fields or columns of an example. A field whose name is empty is recognised from the first
/// record. The case of letters in names does not count, unless names differ only in it.
struct ReadOptions {
  /// The field of the text, or several with commas between them, whose texts are joined by
  /// `text_separator`.
  std::string text_field = {};
  std::string pair_field = {};
  /// The field of the label, or several with commas between them: a field for each label, whose
  /// values are 0 and 1, or with `soft_labels` the numbers of people who chose the label. In
  /// regression a field for each target.
  std::string label_field = {};
  /// The names of the columns of tables without a header line. "-" is a column to skip; a last
  /// "..." stands for any more columns. If empty, the first line is the header.
  std::vector<std::string> columns = {};
  bool labelled = true;               ///< if false, labels are not read
  std::optional<Format> format = {};  ///< recognised if not given; `lines` must be given
  bool empty_lines = false;           ///< if true, an empty line of `lines` is a text too
  ProblemType problem_type = ProblemType::single_label;  ///< the kind of labels
  bool soft_labels = false;            ///< true if a label is a distribution over the labels
  bool label_optional = false;         ///< true if records, or all of a file, may lack a label
  OpenFile open = nullptr;             ///< opens files in one more format, such as `parquet::open`
  bool skip_unlabelled = false;        ///< true if records without a label are left out
  std::vector<std::string> keep = {};  ///< the fields whose values `Example::kept` has
  /// The field that names the split of each record, whose value `Example::kept` has last.
  std::string split_field = {};
  Split split = Split::all;  ///< the split whose records are read
  /// Tells whether an example is read. By default all are.
  std::function<bool(const Example&)> reads = {};
};

/// The text between the texts of several fields that are one text.
inline constexpr std::string_view text_separator = "\n";

/// Joins the texts of several fields. Texts of only whitespace are left out.
inline void join_texts(std::span<const std::string_view> parts, std::string& joined) {
  joined.clear();
  for (const std::string_view part : parts) {
    if (part.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
    if (!joined.empty()) joined += text_separator;
    joined += part;
  }
}

/// The fields of a file. `pair` and `label` are empty if it has none.
struct Fields {
  std::string text;
  std::string pair;
  std::string label;
  std::vector<std::string> text_parts = {};  ///< names of the fields that are one text, if several
  std::vector<std::string> label_columns = {};  ///< names of the labels, if each has a field
  std::vector<std::string> keep = {};           ///< names of the fields of `Example::kept`
  bool label_counts = false;   ///< the fields of labels hold numbers of people who chose the label
  bool label_numbers = false;  ///< labels are numbers to predict
  bool pair_required = true;   ///< if false, a JSON record may lack the field `pair`
  bool label_as_json = false;  ///< a JSON record's label is passed on as JSON text
  bool label_required = true;  ///< if false, a record may lack the label

  bool operator==(const Fields&) const = default;
};

/// Returns the name among `names` that equals `wanted`, else the only one that differs from it in
/// case, else nothing.
inline std::optional<std::string> find_name(std::span<const std::string> names,
                                            std::string_view wanted) {
  if (std::ranges::count(names, wanted) > 0) return std::string{wanted};
  const auto fits = [&](const auto& name) { return equal_but_case(name, wanted); };
  const auto first = std::ranges::find_if(names, fits);
  if (first == names.end() || std::find_if(first + 1, names.end(), fits) != names.end()) return {};
  return *first;
}

namespace detail {

struct KnownTexts {
  std::string_view text;
  std::string_view pair;
  bool pair_required;
};

/// The names of text fields in public data sets: MultiNLI, SNLI and GLUE; Hugging Face's names;
/// reviews.
constexpr std::array<KnownTexts, 8> known_texts{{{"sentence1", "sentence2", true},
                                                 {"premise", "hypothesis", true},
                                                 {"question1", "question2", true},
                                                 {"question", "sentence", true},
                                                 {"text", "text_pair", false},
                                                 {"sentence", "", false},
                                                 {"text", "", false},
                                                 {"review", "", false}}};
constexpr std::array<std::string_view, 6> known_labels{"gold_label",   "label",     "labels",
                                                       "is_duplicate", "sentiment", "score"};

/// Throws one `InputError` about all fields that could not be recognised.
inline void demand_fields(bool has_text, bool has_label, std::span<const std::string> names,
                          const std::string& file, const std::string& also) {
  if (has_text && has_label) return;
  if (names.size() == 1 && names[0].find(';') != std::string::npos) {
    throw InputError{"has semicolons between its columns: " + names[0],
                     {.object = file},
                     "write commas, or tabs into a .tsv"};
  }
  const char* const both = "text and none for the label";
  throw InputError{std::string{"no known field for the "} +
                       (has_text    ? "label"
                        : has_label ? "text"
                                    : both) +
                       " among: " + joined(names),
                   {.object = file},
                   std::string{"name "} +
                       (has_text    ? "it with --label-field"
                        : has_label ? "it with --text-field"
                                    : "them with --text-field and --label-field") +
                       also};
}

/// Returns the fields that `text` names as `split_at_commas` reads it, or none if it is one field.
inline std::vector<std::string> several_fields(std::span<const std::string> names,
                                               const std::string& text) {
  if (text.find(',') == std::string::npos || find_name(names, text)) return {};
  std::vector<std::string> fields;
  for (const auto& name : split_at_commas(text)) {
    fields.push_back(find_name(names, name).value_or(name));
  }
  return fields;
}

/// Throws `InputError` if a field of `wanted` is not one of `names`.
inline void demand_each(std::span<const std::string> wanted, std::span<const std::string> names,
                        const std::string& file) {
  for (const auto& name : wanted) {
    if (std::ranges::count(names, name) > 0) continue;
    throw InputError{"no such field; there are: " + joined(names), {.object = file, .field = name}};
  }
}

/// Sets the fields whose texts are joined, those of labels that have a field each, and those whose
/// values are passed on.
inline void choose_lists(std::span<const std::string> names, const ReadOptions& options,
                         const std::string& file, Fields& fields) {
  fields.text_parts = several_fields(names, fields.text);
  demand_each(fields.text_parts, names, file);
  fields.label_columns = several_fields(names, fields.label);
  fields.label_counts = options.soft_labels && !fields.label_columns.empty();
  fields.label_numbers = options.labelled && options.problem_type == ProblemType::regression;
  fields.keep = options.keep;
  if (!options.split_field.empty()) fields.keep.push_back(options.split_field);
  for (auto& name : fields.keep) name = find_name(names, name).value_or(name);
  demand_each(fields.keep, names, file);
}

}  // namespace detail

/// Tells whether the first line of a table is the usual name of its only column, a text.
[[nodiscard]] inline bool is_text_column(std::string_view line) {
  if (line.size() > 2 && line.starts_with('"') && line.ends_with('"')) {
    line = line.substr(1, line.size() - 2);
  }
  return std::ranges::any_of(detail::known_texts, [&](const auto& known) {
    return known.text == line && (known.pair.empty() || !known.pair_required);
  });
}

/// Finds the fields among the `names` in the first record or the header. If they cannot be
/// recognised, throws `InputError` that says which option helps; `also` is more advice.
inline Fields choose_fields(std::span<const std::string> names, const ReadOptions& options,
                            const std::string& file, const std::string& also = {}) {
  const auto has = [&](std::string_view name) { return find_name(names, name).has_value(); };
  const auto named = [&](std::string_view name) {
    return find_name(names, name).value_or(std::string{name});
  };
  Fields fields{.text = named(options.text_field),
                .pair = named(options.pair_field),
                .label = options.labelled ? named(options.label_field) : "",
                .label_as_json = options.soft_labels ||
                                 options.problem_type == ProblemType::regression ||
                                 options.problem_type == ProblemType::multi_label,
                .label_required = !options.label_optional && !options.skip_unlabelled};
  detail::choose_lists(names, options, file, fields);
  const auto label = std::ranges::find_if(detail::known_labels, has);
  const bool finds_label = options.labelled && fields.label.empty();
  if (fields.text.empty()) {
    const auto known = std::ranges::find_if(detail::known_texts, [&](const auto& candidate) {
      return has(candidate.text) &&
             (candidate.pair.empty() || !candidate.pair_required || has(candidate.pair));
    });
    if (known != detail::known_texts.end()) {
      fields.text = named(known->text);
      if (fields.pair.empty()) {
        fields.pair = named(known->pair);
        fields.pair_required = known->pair_required;
      }
    }
  }
  const bool has_label = label != detail::known_labels.end();
  detail::demand_fields(!fields.text.empty(), !finds_label || has_label || options.label_optional,
                        names, file, also);
  if (finds_label && has_label) fields.label = named(*label);
  return fields;
}

/// Returns the options for a table with this header. If no labels are read and the only column has
/// a name of letters and digits, so that it is hardly a text itself, that column is the text.
inline ReadOptions options_for_table(ReadOptions options, std::span<const std::string> header) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool is_name = header.size() == 1 && std::ranges::all_of(header[0], fits);
  if (is_name && !options.labelled && options.text_field.empty()) options.text_field = header[0];
  return options;
}

}  // namespace seqtrain::data
