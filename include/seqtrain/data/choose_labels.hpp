#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/labels.hpp>
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
  const auto is_number = [](const auto& name) {
    return parse_number<std::int64_t>(name).has_value();
  };
  if (std::ranges::all_of(found, is_number)) {
    std::ranges::sort(found, {},
                      [](const auto& name) { return *parse_number<std::int64_t>(name); });
  }
  return found;
}

using Names = std::set<std::string, std::less<>>;

/// The names of labels, and the number of examples that have one.
struct FoundLabels {
  Names names = {};
  std::size_t examples = 0;
};

/// Throws `InputError` if most examples have a label of their own, as texts are. A few examples
/// prove nothing.
inline void demand_repeated(const FoundLabels& found, const Where& place) {
  constexpr std::size_t few = 20;
  if (found.names.size() <= few || 2 * found.names.size() <= found.examples) return;
  throw InputError{"has " + std::to_string(found.names.size()) + " different labels in " +
                       std::to_string(found.examples) + " examples, so it may hold the texts",
                   place,
                   "name the field of the labels with --label-field and that of the texts with "
                   "--text-field, or all labels with --labels a,b,c"};
}

/// Adds the label of an example.
template <class R>
void add_label(const R& reader, const Example& example, std::string_view label, Names& names) {
  if (names.contains(label)) return;
  if (label.empty()) throw reader.label_error("the label is empty", example, {});
  names.emplace(label);
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
    if (!array.parse(*example.label)) throw reader.label_error(expected_label_array, example, {});
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
  const bool others_are_nli = std::ranges::all_of(names, [&](const auto& name) {
    return name == no_label || std::ranges::count(nli.names(), name) > 0;
  });
  if (others_are_nli && names.size() > 1) names.erase(found);
}

/// Removes -1 from the labels -1 to n-1 of a data set that has examples without a gold label.
inline void remove_no_label_id(Names& names) {
  // The labels -1, 0 and 1 may mean negative, neutral and positive.
  constexpr std::size_t least = 3;
  const std::size_t others = names.size() - names.count(no_label_id);
  if (others < least) return;
  for (std::size_t id = 0; id < others; ++id) {
    if (!names.contains(std::to_string(id))) return;
  }
  if (const auto found = names.find(no_label_id); found != names.end()) names.erase(found);
}

/// Throws `InputError` unless a file or directory has at least two labels.
inline void demand_two(std::size_t found, const Where& place) {
  if (found >= 2) return;
  throw InputError{"has fewer than two different labels", place,
                   "name all of them with --labels a,b,c"};
}

/// Returns the labels of a file with these fields. `add_all` adds all labels to a set.
template <class AddAll>
Labels labels_of(const std::string& file, const Fields& fields, const AddAll& add_all) {
  const bool arrays = fields.label_as_json;
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
  demand_two(found.names.size(), place);
  if (!arrays) demand_repeated(found, place);
  return Labels{in_standard_order({found.names.begin(), found.names.end()}), problem_type};
}

}  // namespace detail

/// Returns the labels of a text's examples, or the three labels of MultiNLI if the label field is
/// MultiNLI's, or the names of the columns if each label has one. "-" means "no label" if the other
/// labels are MultiNLI's. "-1" means "no label" if the other labels are 0 to n-1 with n of at least
/// 3; with only 0 and 1 it is a label. Throws `InputError` if there are fewer than two labels, or
/// so many that the field cannot hold labels.
inline Labels find_labels(const Reader& reader) {
  return detail::labels_of(reader.name(), reader.fields(), [&](detail::FoundLabels& found) {
    detail::add_labels_of(reader, found, [](std::string_view) {});
  });
}

/// Returns the labels of a file's examples by the rules for a `Reader`.
inline Labels find_labels(RecordFile& file) {
  return detail::labels_of(file.name(), file.fields(), [&](detail::FoundLabels& found) {
    file.each_text([&](const Reader& reader) {
      detail::add_labels_of(reader, found, [&](std::string_view part) { file.forget(part); });
    });
  });
}

/// Returns the label names that a file declares, in the order of their ids, else the labels of its
/// examples.
inline Labels find_labels(const ExampleFile& file) {
  if (const auto names = file.label_names(); !names.empty()) {
    return Labels{
        names, file.fields().label_as_json ? ProblemType::multi_label : ProblemType::single_label};
  }
  return detail::labels_of(file.name(), file.fields(), [&](detail::FoundLabels& found) {
    detail::add_labels_of(file, found, [](const ExampleFile::Part&) {});
  });
}

/// Returns the labels of a directory, which are the names of its folders.
inline Labels find_labels(const TextFolder& folder) {
  detail::demand_two(folder.labels().size(), {.object = folder.name()});
  return Labels{detail::in_standard_order(folder.labels())};
}

/// Returns a task's labels: those that the user names, else the model's if it has any, else those
/// of the training file or directory. Regression has one label, which needs no name. Throws
/// `InputError` if no labels are found.
inline Labels choose_labels(const std::vector<std::string>& given,
                            const std::vector<std::string>& of_model,
                            const std::filesystem::path& train_file, const ReadOptions& options) {
  const ProblemType problem = options.problem_type;
  if (!given.empty()) return Labels{given, problem, options.soft_labels};
  if (problem == ProblemType::regression) return Labels::regression();
  if (!of_model.empty()) return Labels{of_model, problem, options.soft_labels};
  if (options.soft_labels) {
    throw InputError{"are needed: soft labels do not name all of them",
                     {.object = "labels"},
                     "give them with --labels, in the order of the probabilities"};
  }
  if (const auto file = open_example_file(train_file, options)) return find_labels(*file);
  if (is_text_folder(train_file)) {
    return Labels{find_labels(TextFolder{train_file}).names(), problem};
  }
  RecordFile file{train_file, options};
  return find_labels(file);
}

}  // namespace seqtrain::data
