#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/label_key.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/like_labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/record_file.hpp>
#include <seqtrain/data/targets.hpp>
#include <seqtrain/data/text_folder.hpp>

namespace seqtrain::data {

namespace detail {

constexpr std::size_t most_labels = 10'000;

/// Returns a file's label names in the order of their ids: the order of a known task, else by value
/// if all are numbers, else sorted.
inline std::vector<std::string> in_standard_order(std::vector<std::string> found) {
  const auto known = [&found](const Labels& task) {
    return std::ranges::all_of(
        found, [&](const auto& name) { return std::ranges::count(task.names(), name) > 0; });
  };
  for (const Labels& task : {Labels::nli(), Labels::sentiment()}) {
    if (known(task)) return task.names();
  }
  std::ranges::sort(found);
  const auto is_number = [](const auto& name) { return decimal_number(name).has_value(); };
  if (std::ranges::all_of(found, is_number)) {
    std::ranges::stable_sort(found, {}, [](const auto& name) {
      return std::pair{*decimal_number(name), whole_value(name).value_or(0)};
    });
  }
  return found;
}

/// Names of labels with the number of examples that have each.
using Names = std::map<std::string, std::size_t, std::less<>>;

/// The names of labels, and the number of examples that have one.
struct FoundLabels {
  Names names = {};
  std::size_t examples = 0;
};

/// Returns the names with one for all spellings of a label, in the place of the first of them.
/// Calls `join` with each label that has several spellings.
inline std::vector<std::string> joined_labels(const std::vector<std::string>& names,
                                              const Names& examples, const JoinLabels& join) {
  std::vector<std::size_t> counts;
  for (const auto& name : names) {
    const auto found = examples.find(name);
    counts.push_back(found == examples.end() ? 0 : found->second);
  }
  std::map<std::string, std::string> name_of;  // by spelling
  for (const auto& spellings : like_labels(names, counts)) {
    const std::string name = joined_name(spellings);
    for (const auto& spelling : spellings) name_of[spelling.name] = name;
    join(spellings, name);
  }
  std::vector<std::string> result;
  std::set<std::string> seen;
  for (const auto& name : names) {
    const auto joined = name_of.find(name);
    const std::string& chosen = joined == name_of.end() ? name : joined->second;
    if (seen.insert(chosen).second) result.push_back(chosen);
  }
  return result;
}

/// Throws `InputError` if most examples have a label of their own, as texts are. A few examples
/// prove nothing.
inline void demand_repeated(const FoundLabels& found, const Where& place) {
  constexpr std::size_t few = 20;
  if (found.names.size() <= few || 2 * found.names.size() <= found.examples) return;
  const std::string problem = "has " + std::to_string(found.names.size()) +
                              " different labels in " + std::to_string(found.examples) +
                              " examples, so it may hold ";
  const auto is_number = [](const auto& one) { return decimal_number(one.first).has_value(); };
  if (std::ranges::all_of(found.names, is_number)) {
    throw InputError{problem + "numbers to predict", place,
                     "those are --problem-type regression; or name all labels with --labels"};
  }
  throw InputError{problem + "the texts", place,
                   "name the field of the labels with --label-field and that of the texts with "
                   "--text-field, or all labels with --labels a,b,c"};
}

/// Adds the label of an example.
template <class R>
void add_label(const R& reader, const Example& example, std::string_view label, Names& names) {
  if (const auto known = names.find(label); known != names.end()) return void(++known->second);
  if (label.empty()) throw reader.label_error("the label is empty", example, {});
  names.emplace(label, 1);
  if (names.size() > most_labels) {
    throw reader.label_error("too many different labels", example,
                             "name the field with --label-field");
  }
}

/// Adds the labels of a part's examples.
template <class R, class Part>
void add_labels(const R& reader, const Part& part, FoundLabels& found) {
  reader.read(part, [&](const Example& example) {
    if (!example.label) return;
    ++found.examples;
    add_label(reader, example, *example.label, found.names);
  });
}

/// Adds the labels of a part's examples if each example has an array of labels. For an array of
/// numbers it adds their indexes.
template <class R, class Part>
void add_label_arrays(const R& reader, const Part& part, Names& names) {
  LabelArray array;
  reader.read(part, [&](const Example& example) {
    if (!example.label) return;
    if (!array.parse(*example.label)) throw reader.label_error(array.problem(), example, {});
    for (const auto name : array.names()) add_label(reader, example, name, names);
    for (std::size_t i = 0; i < array.numbers().size(); ++i) {
      add_label(reader, example, std::to_string(i), names);
    }
  });
}

/// Adds the labels of all examples of a reader. Calls `done` after each part.
template <class R, class Done>
void add_labels_of(const R& reader, FoundLabels& found, const Done& done) {
  for (const auto& part : reader.parts(std::size_t{1} << 20)) {
    reader.fields().label_as_json ? add_label_arrays(reader, part, found.names)
                                  : add_labels(reader, part, found);
    done(part);
  }
}

/// Removes "-" from the labels of MultiNLI or SNLI.
inline void remove_no_label(Names& names) {
  const auto found = names.find(no_label);
  if (found == names.end()) return;
  const Labels nli = Labels::nli();
  const bool others_are_nli = std::ranges::all_of(names, [&](const auto& one) {
    return one.first == no_label || std::ranges::count(nli.names(), one.first) > 0;
  });
  if (others_are_nli && names.size() > 1) names.erase(found);
}

/// Removes -1 from the labels -1 to n-1 of a data set that has examples without a gold label.
inline void remove_no_label_id(Names& names) {
  // The labels -1, 0 and 1 may mean negative, neutral and positive.
  constexpr std::size_t least = 3;
  std::set<std::int64_t> ids;
  for (const auto& [name, count] : names) {
    if (is_no_label_id(name)) continue;
    const auto id = whole_value(name);
    if (!id) return;
    ids.insert(*id);
  }
  if (ids.size() < least || *ids.begin() != 0) return;
  if (*ids.rbegin() != static_cast<std::int64_t>(ids.size()) - 1) return;
  std::erase_if(names, [](const auto& one) { return is_no_label_id(one.first); });
}

/// Throws `InputError` unless a file or directory has at least two labels.
inline void demand_two(std::size_t found, const Where& place) {
  if (found >= 2) return;
  throw InputError{"has fewer than two different labels", place,
                   "name all of them with --labels a,b,c"};
}

inline std::vector<std::string> names_in(const Names& found) {
  std::vector<std::string> names;
  for (const auto& [name, count] : found) names.push_back(name);
  return names;
}

/// Returns the labels of a file with these fields. `add_all` adds all labels to a map.
template <class AddAll>
Labels labels_of(const std::string& file, const Fields& fields, const JoinLabels& join,
                 const AddAll& add_all) {
  const bool arrays = fields.label_as_json;
  if (fields.label_counts) return Labels{fields.label_columns, ProblemType::single_label, true};
  const auto problem_type = arrays ? ProblemType::multi_label : ProblemType::single_label;
  if (!fields.label_columns.empty()) return Labels{fields.label_columns, problem_type};
  if (equal_but_case(fields.label, "gold_label") && !arrays) return Labels::nli();
  FoundLabels found;
  add_all(found);
  if (!arrays) {
    remove_no_label(found.names);
    remove_no_label_id(found.names);
  }
  const Where place{.object = file, .field = fields.label};
  auto names = names_in(found.names);
  if (join) names = joined_labels(names, found.names, join);
  demand_two(names.size(), place);
  if (!arrays) demand_repeated(found, place);
  return Labels{in_standard_order(std::move(names)), problem_type};
}

/// Returns the fields that have a label or a target each; none if one field has the label.
inline std::vector<std::string> label_columns_of(const std::filesystem::path& file,
                                                 const ReadOptions& options) {
  if (options.label_field.find(',') == std::string::npos) return {};
  if (const auto other = open_example_file(file, options)) return other->fields().label_columns;
  if (is_text_folder(file)) return {};
  return RecordFile{file, options}.fields().label_columns;
}

}  // namespace detail

/// Returns the labels of a text's examples, or the three labels of MultiNLI if the label field is
/// MultiNLI's, or the names of the columns if each label has one. "-" means "no label" if the other
/// labels are MultiNLI's. "-1" means "no label" if the other labels are 0 to n-1 with n of at least
/// 3; with only 0 and 1 it is a label. Labels that are all numbers have the order of their values.
/// If there is a function `join`, labels that are alike as in `like_labels` are joined and passed
/// to it. Throws `InputError` if there are fewer than two labels, or so many that the field cannot
/// hold labels.
inline Labels find_labels(const Reader& reader, const JoinLabels& join = {}) {
  return detail::labels_of(reader.name(), reader.fields(), join, [&](detail::FoundLabels& found) {
    detail::add_labels_of(reader, found, [](std::string_view) {});
  });
}

/// Returns the labels of a file's examples by the rules for a `Reader`.
inline Labels find_labels(RecordFile& file, const JoinLabels& join = {}) {
  return detail::labels_of(file.name(), file.fields(), join, [&](detail::FoundLabels& found) {
    file.each_text([&](const Reader& reader) {
      detail::add_labels_of(reader, found, [&](std::string_view part) { file.forget(part); });
    });
  });
}

/// Returns the label names that a file declares, in the order of their ids, else the labels of its
/// examples.
inline Labels find_labels(const ExampleFile& file, const JoinLabels& join = {}) {
  const auto add_all = [&](detail::FoundLabels& found) {
    detail::add_labels_of(file, found, [](const ExampleFile::Part&) {});
  };
  auto names = file.label_names();
  if (names.empty()) return detail::labels_of(file.name(), file.fields(), join, add_all);
  if (join) {
    detail::FoundLabels found;
    add_all(found);
    names = detail::joined_labels(names, found.names, join);
  }
  return Labels{std::move(names),
                file.fields().label_as_json ? ProblemType::multi_label : ProblemType::single_label};
}

/// Returns the labels of a directory, which are the names of its folders.
inline Labels find_labels(const TextFolder& folder, const JoinLabels& join = {}) {
  auto names = folder.labels();
  if (join) {
    detail::Names examples;
    for (std::size_t i = 0; i < names.size(); ++i) examples[names[i]] = folder.texts_of(i);
    names = detail::joined_labels(names, examples, join);
  }
  detail::demand_two(names.size(), {.object = folder.name()});
  return Labels{detail::in_standard_order(std::move(names))};
}

/// Returns a task's labels: those that the user names, else the model's if it has any, else those
/// of the training file or directory, which `join` joins as in `find_labels`. Soft labels are only
/// found if each label has a field. Regression has a label for each field of a target, or those of
/// a model of several targets, or one, which needs no name. Throws `InputError` if no labels are
/// found.
inline Labels choose_labels(const std::vector<std::string>& given,
                            const std::vector<std::string>& of_model,
                            const std::filesystem::path& train_file, const ReadOptions& options,
                            const JoinLabels& join = {}) {
  const ProblemType problem = options.problem_type;
  if (!given.empty()) return Labels{given, problem, options.soft_labels};
  if (problem == ProblemType::regression) {
    auto targets = detail::label_columns_of(train_file, options);
    if (targets.empty() && of_model.size() > 1) targets = of_model;
    return targets.empty() ? Labels::regression() : Labels{std::move(targets), problem};
  }
  if (!of_model.empty()) return Labels{of_model, problem, options.soft_labels};
  const auto demand_counts = [&](bool has_counts) {
    if (!options.soft_labels || has_counts) return;
    throw InputError{"are needed: soft labels do not name all of them",
                     {.object = "labels"},
                     "give them with --labels, in the order of the probabilities"};
  };
  demand_counts(options.label_field.find(',') != std::string::npos);
  if (const auto file = open_example_file(train_file, options)) {
    demand_counts(file->fields().label_counts);
    return find_labels(*file, join);
  }
  if (is_text_folder(train_file)) {
    demand_counts(false);
    return Labels{find_labels(TextFolder{train_file}, join).names(), problem};
  }
  RecordFile file{train_file, options};
  demand_counts(file.fields().label_counts);
  return find_labels(file, join);
}

}  // namespace seqtrain::data
