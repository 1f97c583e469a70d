#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/record_file.hpp>
#include <seqtrain/data/split_field.hpp>
#include <seqtrain/data/text_folder.hpp>

namespace seqtrain::data {

/// The place of an example in its file and in the encoded set.
struct ExamplePlace {
  std::size_t row = 0;     ///< its number in the set of `encode_file`, counted from 0
  std::size_t record = 0;  ///< its number in the file from 1, records without a gold label included
};

/// Calls `visit(place, example)` for the examples that `encode_file` encodes, in order. If `rows`
/// (ascending) is not empty it visits only these, and `place.row` then counts them from 0. Throws
/// `InputError` if a record is wrong.
template <class Visit>
void visit_examples(const std::filesystem::path& path, ReadOptions options, const Labels& labels,
                    const Visit& visit, std::span<const std::size_t> rows = {}) {
  options.problem_type = labels.problem_type();
  options.soft_labels = labels.soft();
  ExamplePlace place;
  std::size_t row = 0;  // index among all examples
  const auto each = [&](const Example& example) {
    ++place.record;
    if (!is_read(example, options) || (!example.label && options.skip_unlabelled)) return;
    const bool is_kept = options.label_optional || !example.label;
    if (!is_kept && labels.is_no_label(*example.label)) return;
    const bool wanted = rows.empty() || (place.row < rows.size() && rows[place.row] == row);
    ++row;
    if (!wanted) return;
    visit(std::as_const(place), example);
    ++place.row;
  };
  if (const auto file = open_example_file(path, options)) {
    for (const auto& part : file->parts()) file->read(part, each);
    return;
  }
  if (is_text_folder(path)) {
    refuse_fields(options, path.string());
    const TextFolder folder{path};
    for (const auto& part : folder.parts(std::numeric_limits<std::size_t>::max() / 2)) {
      folder.read(part, each);
    }
    return;
  }
  RecordFile{path, options}.each_text([&](const Reader& reader) { reader.read_all(each); });
}

/// Returns the value of a field of each row.
[[nodiscard]] inline std::vector<std::string> values_of(const std::filesystem::path& path,
                                                        ReadOptions options, const Labels& labels,
                                                        const std::string& field) {
  options.keep = {field};
  std::vector<std::string> values;
  visit_examples(path, options, labels, [&](const ExamplePlace&, const Example& example) {
    values.emplace_back(example.kept.front().text);
  });
  return values;
}

/// Returns the number of records of each split, by its number in `Split`, without those that
/// `skip_unlabelled` leaves out. Throws `InputError` if a record's split is unknown.
[[nodiscard]] inline std::array<std::size_t, 4> count_splits(const std::filesystem::path& path,
                                                             ReadOptions options) {
  // Labels in several fields are not read unless they are numbers: their form depends on the
  // problem.
  const bool may_be_read = options.label_field.find(',') == std::string::npos ||
                           options.problem_type == ProblemType::regression;
  options.skip_unlabelled = options.labelled = options.skip_unlabelled && may_be_read;
  options.split = Split::all;
  std::array<std::size_t, 4> counts{};
  visit_examples(path, options, Labels::regression(),
                 [&](const ExamplePlace& place, const Example& example) {
                   const std::string_view label = example.label.value_or("x");
                   if (label == "" || label == "\"\"" || label == "-" || label == "\"-\"") return;
                   const auto& value = example.kept.back().text;
                   const auto split = split_named(value);
                   if (split) return void(++counts[static_cast<std::size_t>(*split)]);
                   throw InputError{"record " + std::to_string(place.record) +
                                        " is in an unknown split, '" + shown(value) + "'",
                                    {.object = path.string(), .field = options.split_field},
                                    "write train, dev or test; validation is dev too"};
                 });
  return counts;
}

/// Returns the record number in the file, counted from 1, of each row or of the given rows.
[[nodiscard]] inline std::vector<std::int64_t> record_numbers(
    const std::filesystem::path& path, const ReadOptions& options, const Labels& labels,
    std::span<const std::size_t> rows = {}) {
  std::vector<std::int64_t> numbers;
  visit_examples(
      path, options, labels,
      [&](const ExamplePlace& place, const Example&) {
        numbers.push_back(static_cast<std::int64_t>(place.record));
      },
      rows);
  return numbers;
}

}  // namespace seqtrain::data
