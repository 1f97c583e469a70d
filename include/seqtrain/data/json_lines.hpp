#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/json_parser.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>
#include <seqtrain/data/targets.hpp>

namespace seqtrain::data {

/// Finds fields that only later records of JSON lines have and that could be meant as a text or a
/// label. The fields of a file are recognised from its first record.
class LaterFields {
 public:
  /// `first` are the names of the first record's fields.
  LaterFields(std::vector<std::string> first, ReadOptions options)
      : first_{std::move(first)}, options_{std::move(options)} {
    for (const auto& known : detail::known_texts) {
      watch(known.text);
      watch(known.pair);
    }
    if (!options_.labelled) return;
    for (const auto name : detail::known_labels) watch(name);
  }

  /// Tells whether a field has a known name and is not in the first record.
  [[nodiscard]] bool is_new(std::string_view name) const {
    if (!has_length(name.size())) return false;
    return std::ranges::any_of(watched_,
                               [&](const auto known) { return equal_but_case(known, name); });
  }

  /// Tells whether other fields than `fields` would be recognised if the first record had these
  /// new ones too.
  [[nodiscard]] bool matter(std::span<const std::string> names, const Fields& fields,
                            const std::string& file) const {
    auto all = first_;
    all.insert(all.end(), names.begin(), names.end());
    return choose_fields(all, options_, file) != fields;
  }

 private:
  void watch(std::string_view name) {
    if (name.empty() || find_name(first_, name)) return;
    watched_.push_back(name);
    lengths_ |= std::uint64_t{1} << name.size();
  }

  /// Tells whether a watched name has this length, which few other names have.
  [[nodiscard]] bool has_length(std::size_t length) const {
    return length < 64 && (lengths_ >> length & 1) != 0;
  }

  std::vector<std::string> first_;
  ReadOptions options_;
  std::vector<std::string_view> watched_;  ///< known names that the first record lacks
  std::uint64_t lengths_ = 0;              ///< bit n is set if one of them has n bytes
};

/// Parses lines that each hold one JSON object, and turns them into examples.
class JsonLineParser {
 public:
  explicit JsonLineParser(const Source& source) : source_{&source} {}

  /// Returns the object in `line`, which is valid until the next call. Throws `InputError` with the
  /// line's number.
  simdjson::dom::object parse(std::string_view line) {
    const auto after = source_->text.data() + source_->text.size() - (line.data() + line.size());
    const bool padded = after >= static_cast<std::ptrdiff_t>(simdjson::SIMDJSON_PADDING);
    simdjson::dom::element element;
    const auto code = json::parse(parser_, line, padded, element);
    if (code == simdjson::UTF8_ERROR) source_->demand_utf8(line);
    if (code != simdjson::SUCCESS) {
      throw source_->error(std::string{"not valid JSON: "} + simdjson::error_message(code), line);
    }
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) {
      throw source_->error("expected a JSON object", line, {}, "write one object a line");
    }
    return object;
  }

  /// Returns the example in `line`, which is valid until the next call. `later` finds fields that
  /// the first record lacks.
  Example example(std::string_view line, const Fields& fields, const LaterFields& later) {
    Example result{.record = line};
    bool has_text = false;
    new_fields_.clear();
    if (!fields.label_columns.empty()) labels_.emplace(fields).begin_record();
    parts_.assign(fields.text_parts.size(), "");
    kept_.assign(fields.keep.size(), {.text = "null", .is_json = true});
    kept_texts_.resize(fields.keep.size());
    for (const auto member : parse(line)) {
      if (!kept_.empty()) keep(member, fields);
      if (member.key == fields.text) {
        result.text = string(member, line);
        has_text = true;
      } else if (take_part(member, fields, line)) {
        has_text = true;
      } else if (member.key == fields.pair && !fields.pair.empty()) {
        result.text_pair.reset();
        if (!member.value.is_null()) result.text_pair = string(member, line);
      } else if (member.key == fields.label && !fields.label.empty()) {
        result.label = fields.label_as_json ? as_json(member, fields) : one_label(member, line);
      } else if (!set_column_label(member, fields, line) && later.is_new(member.key)) {
        new_fields_.emplace_back(member.key);
      }
    }
    refuse_new_fields(fields, later, line);
    if (!has_text) throw missing(fields.text, line);
    if (!parts_.empty()) {
      join_texts(parts_, text_);
      result.text = text_;
    }
    result.kept = kept_;
    if (!result.text_pair && fields.pair_required && !fields.pair.empty()) {
      throw missing(fields.pair, line);
    }
    if (!fields.label_columns.empty()) result.label = column_label(line);
    const auto label = result.label.value_or("");
    const bool is_there = fields.label_required ? !label.empty() : !is_blank(label);
    if (is_there || fields.label.empty()) return result;
    if (fields.label_required) throw missing(fields.label, line);
    result.label.reset();
    return result;
  }

 private:
  using Member = simdjson::dom::key_value_pair;

  [[nodiscard]] InputError missing(const std::string& field, std::string_view line) const {
    return source_->error("missing", line, field);
  }

  std::string_view string(const Member& member, std::string_view line) const {
    std::string_view text;
    if (member.value.get(text) != simdjson::SUCCESS) {
      throw source_->error("expected a string", line, std::string{member.key});
    }
    return text;
  }

  /// Takes the text of one of several fields that are one text. Returns false for another field. A
  /// null is no text.
  bool take_part(const Member& member, const Fields& fields, std::string_view line) {
    const auto found = std::ranges::find(fields.text_parts, member.key);
    if (found == fields.text_parts.end()) return false;
    auto& part = parts_[static_cast<std::size_t>(found - fields.text_parts.begin())];
    part = member.value.is_null() ? "" : string(member, line);
    return true;
  }

  /// Passes on the value of a field if it is one of those to keep.
  void keep(const Member& member, const Fields& fields) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (fields.keep[i] != member.key) continue;
      if (std::string_view text; member.value.get(text) == simdjson::SUCCESS) {
        kept_[i] = {text};
      } else {
        kept_texts_[i] = simdjson::minify(member.value);
        kept_[i] = {.text = kept_texts_[i], .is_json = true};
      }
    }
  }

  /// Returns the label of a single-label task: a label, or the only item of a list, as doccano
  /// writes it. An empty list is no label.
  std::optional<std::string_view> one_label(const Member& member, std::string_view line) {
    simdjson::dom::array items;
    if (member.value.get(items) != simdjson::SUCCESS) return label(member.value, member, line);
    if (items.size() == 0) return {};
    const simdjson::dom::element first = items.at(0);
    if (first.is_array() || first.is_object()) {
      throw source_->error(
          is_span(first) ? spans_are_no_label : "a list holds lists or objects", line,
          std::string{member.key},
          "export the labels of whole texts, such as doccano's text classification");
    }
    if (items.size() == 1) return label(first, member, line);
    throw source_->error("holds " + std::to_string(items.size()) + " labels, expected one", line,
                         std::string{member.key},
                         "several labels of a record are "
                         "--problem-type multi_label_classification");
  }

  /// Returns the text of a label that is a name, a whole number or a bool.
  std::optional<std::string_view> label(simdjson::dom::element value, const Member& member,
                                        std::string_view line) {
    if (value.is_null()) return {};
    if (std::string_view name; value.get(name) == simdjson::SUCCESS) return name;
    if (value.is_bool()) return bool{value} ? "true" : "false";
    std::int64_t number = 0;
    double real = 0.5;
    if (value.get(number) != simdjson::SUCCESS) {
      const bool whole =
          value.get(real) == simdjson::SUCCESS && std::abs(real) < 1e9 && std::trunc(real) == real;
      if (!whole) {
        throw source_->error("a label is a name or a whole number", line, std::string{member.key},
                             "numbers to predict are --problem-type regression");
      }
      number = static_cast<std::int64_t>(real);
    }
    const auto end = std::to_chars(digits_, digits_ + sizeof digits_, number).ptr;
    return std::string_view{digits_, static_cast<std::size_t>(end - digits_)};
  }

  /// Returns the label as JSON text for regression and multi-label classification. Its numbers are
  /// parsed later.
  std::optional<std::string_view> as_json(const Member& member, const Fields& fields) {
    if (member.value.is_null()) return {};
    const bool skips_nulls = fields.label_numbers && !fields.label_required;
    if (skips_nulls && has_null(member.value)) return {};
    return json_ = simdjson::minify(member.value);
  }

  /// Tells whether one of several numbers is missing.
  static bool has_null(simdjson::dom::element value) {
    const auto is_null = [](const simdjson::dom::element item) { return item.is_null(); };
    if (simdjson::dom::array items; value.get(items) == simdjson::SUCCESS) {
      return std::any_of(items.begin(), items.end(), is_null);
    }
    simdjson::dom::object members;
    if (value.get(members) != simdjson::SUCCESS) return false;
    for (const auto member : members) {
      if (is_null(member.value)) return true;
    }
    return false;
  }

  /// Takes the value of a field that stands for a label. Returns false if it is no such field.
  bool set_column_label(const Member& member, const Fields& fields, std::string_view line) {
    const auto& columns = fields.label_columns;
    const auto found = std::ranges::find(columns, member.key);
    if (found == columns.end()) return false;
    const auto index = static_cast<std::size_t>(found - columns.begin());
    if (fields.label_counts || fields.label_numbers) {
      labels_->set(index, std::string{simdjson::minify(member.value)});
    } else {
      labels_->set(index, label(member.value, member, line).value_or("null"));
    }
    return true;
  }

  std::optional<std::string_view> column_label(std::string_view line) {
    const std::string problem = labels_->finish_record();
    if (!problem.empty()) throw source_->error(problem, line);
    return labels_->label();
  }

  void refuse_new_fields(const Fields& fields, const LaterFields& later,
                         std::string_view line) const {
    if (new_fields_.empty() || !later.matter(new_fields_, fields, source_->name)) return;
    throw source_->error("the first record has no such field, so it is not clear how it is meant",
                         line, new_fields_.front(),
                         fields.label.empty()
                             ? "name the fields with --text-field and --pair-field"
                             : "name the fields with --text-field, --pair-field and --label-field");
  }

  const Source* source_;
  simdjson::dom::parser parser_;
  char digits_[24] = {};
  std::string json_;
  std::optional<ColumnLabels> labels_;
  std::vector<std::string_view> parts_;  ///< the texts of several fields that are one text
  std::string text_;                     ///< the text that they are
  std::vector<KeptValue> kept_;
  std::vector<std::string> kept_texts_;  ///< their values as JSON
  std::vector<std::string> new_fields_;
};

/// Returns the field names of the first record in `part`, or none if all lines are blank.
inline std::vector<std::string> first_json_fields(const Source& source, std::string_view part) {
  std::vector<std::string> names;
  JsonLineParser parser{source};
  while (!part.empty() && names.empty()) {
    const std::string_view line = take_line(part);
    if (is_blank(line)) continue;
    for (const auto member : parser.parse(line)) names.emplace_back(member.key);
    if (names.empty()) throw source.error("an object without fields", line);
  }
  return names;
}

/// Calls `visit` with each line of `part` as an example. `part` belongs to the source. Blank lines
/// are skipped.
template <class Visit>
void read_json_lines(const Source& source, std::string_view part, const Fields& fields,
                     const LaterFields& later, Visit&& visit) {
  JsonLineParser parser{source};
  while (!part.empty()) {
    const std::string_view line = take_line(part);
    if (!is_blank(line)) visit(parser.example(line, fields, later));
  }
}

}  // namespace seqtrain::data
