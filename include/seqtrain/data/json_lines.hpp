#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/lines.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

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

  /// Returns the example in `line`, which is valid until the next call.
  Example example(std::string_view line, const Fields& fields) {
    Example result{.record = line};
    bool has_text = false;
    for (const auto member : parse(line)) {
      if (member.key == fields.text) {
        result.text = string(member, line);
        has_text = true;
      } else if (member.key == fields.pair && !fields.pair.empty()) {
        result.text_pair.reset();
        if (!member.value.is_null()) result.text_pair = string(member, line);
      } else if (member.key == fields.label && !fields.label.empty()) {
        result.label = fields.label_as_json ? as_json(member) : label(member, line);
      }
    }
    if (!has_text) throw missing(fields.text, line);
    if (!result.text_pair && fields.pair_required && !fields.pair.empty()) {
      throw missing(fields.pair, line);
    }
    if (!result.label && !fields.label.empty()) throw missing(fields.label, line);
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

  std::optional<std::string_view> label(const Member& member, std::string_view line) {
    if (member.value.is_null()) return {};
    if (member.value.is_string()) return string(member, line);
    if (member.value.is_bool()) return bool{member.value} ? "true" : "false";
    std::int64_t number = 0;
    double real = 0.5;
    if (member.value.get(number) != simdjson::SUCCESS) {
      const bool whole = member.value.get(real) == simdjson::SUCCESS && std::abs(real) < 1e9 &&
                         std::trunc(real) == real;
      if (!whole) throw not_a_label(member, line);
      number = static_cast<std::int64_t>(real);
    }
    const auto end = std::to_chars(digits_, digits_ + sizeof digits_, number).ptr;
    return std::string_view{digits_, static_cast<std::size_t>(end - digits_)};
  }

  /// Returns the label as JSON text for regression and multi-label classification. Its numbers are
  /// parsed later.
  std::optional<std::string_view> as_json(const Member& member) {
    if (member.value.is_null()) return {};
    return json_ = simdjson::minify(member.value);
  }

  [[nodiscard]] InputError not_a_label(const Member& member, std::string_view line) const {
    return source_->error("a label is a name or a whole number", line, std::string{member.key});
  }

  const Source* source_;
  simdjson::dom::parser parser_;
  char digits_[24] = {};
  std::string json_;
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
                     Visit&& visit) {
  JsonLineParser parser{source};
  while (!part.empty()) {
    const std::string_view line = take_line(part);
    if (!is_blank(line)) visit(parser.example(line, fields));
  }
}

}  // namespace seqtrain::data
