#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_parser.hpp>
#include <seqtrain/core/read_text.hpp>

namespace seqtrain::json {

namespace detail {

inline std::optional<simdjson::dom::element> last(simdjson::dom::object object,
                                                  std::string_view key) {
  std::optional<simdjson::dom::element> found;
  for (const auto member : object) {
    if (member.key == key) found = member.value;
  }
  return found;
}

}  // namespace detail

SEQTRAIN_SEPARATE Value::Value(simdjson::dom::element element, const std::string& file,
                               std::string path)
    : element_{std::bit_cast<decltype(element_)>(element)}, file_{&file}, path_{std::move(path)} {}

SEQTRAIN_SEPARATE simdjson::dom::element Value::element() const {
  return std::bit_cast<simdjson::dom::element>(element_);
}

template <class T>
[[nodiscard]] T Value::get(const char* expected) const {
  T value;
  if (element().get(value) != simdjson::SUCCESS) throw error(std::string{"expected "} + expected);
  return value;
}

SEQTRAIN_SEPARATE std::optional<Value> Value::find(std::string_view key) const {
  const auto member = detail::last(get<simdjson::dom::object>("an object"), key);
  if (!member || member->is_null()) return {};
  return Value{*member, *file_, child(key)};
}

SEQTRAIN_SEPARATE bool Value::has_null(std::string_view key) const {
  const auto member = detail::last(get<simdjson::dom::object>("an object"), key);
  return member && member->is_null();
}

SEQTRAIN_SEPARATE Value Value::at(std::string_view key) const {
  auto member = find(key);
  if (!member) throw InputError{"missing", {.object = *file_, .field = child(key)}};
  return *std::move(member);
}

SEQTRAIN_SEPARATE std::string Value::string_or_digits() const {
  return is_integer() ? std::to_string(integer()) : std::string{string()};
}

SEQTRAIN_SEPARATE std::string_view Value::string() const {
  return get<std::string_view>("a string");
}
SEQTRAIN_SEPARATE std::int64_t Value::integer() const {
  return get<std::int64_t>("an integer");
}
SEQTRAIN_SEPARATE double Value::number() const {
  return get<double>("a number");
}
SEQTRAIN_SEPARATE bool Value::boolean() const {
  return get<bool>("true or false");
}
SEQTRAIN_SEPARATE bool Value::is_string() const {
  return element().is_string();
}
SEQTRAIN_SEPARATE bool Value::is_integer() const {
  return element().is<std::int64_t>();
}
SEQTRAIN_SEPARATE bool Value::is_number() const {
  return element().is_number();
}
SEQTRAIN_SEPARATE bool Value::is_boolean() const {
  return element().is_bool();
}
SEQTRAIN_SEPARATE bool Value::is_array() const {
  return element().is_array();
}
SEQTRAIN_SEPARATE bool Value::is_object() const {
  return element().is_object();
}

SEQTRAIN_SEPARATE std::vector<Value> Value::items() const {
  std::vector<Value> result;
  for (auto item : get<simdjson::dom::array>("an array")) {
    result.emplace_back(item, *file_, path_ + "[" + std::to_string(result.size()) + "]");
  }
  return result;
}

SEQTRAIN_SEPARATE std::vector<std::pair<std::string_view, Value>> Value::members() const {
  std::vector<std::pair<std::string_view, Value>> result;
  for (auto member : get<simdjson::dom::object>("an object")) {
    result.emplace_back(member.key, Value{member.value, *file_, child(member.key)});
  }
  return result;
}

SEQTRAIN_SEPARATE InputError Value::error(const std::string& problem,
                                          const std::string& advice) const {
  return InputError{problem, {.object = *file_, .field = path_}, advice};
}

SEQTRAIN_SEPARATE std::string Value::child(std::string_view key) const {
  return path_.empty() ? std::string{key} : path_ + "." + std::string{key};
}

// Values point at the name and into the parser, so neither may move.
struct Document::Source {
  std::string name;
  simdjson::dom::parser parser{};
  simdjson::dom::element root{};
};

SEQTRAIN_SEPARATE Document Document::load(const std::filesystem::path& file) {
  Document document{file.string()};
  document.parse_text(read_text(file, simdjson::SIMDJSON_PADDING), true);
  return document;
}

SEQTRAIN_SEPARATE Document Document::parse(std::string_view text, std::string name) {
  Document document{std::move(name)};
  document.parse_text(text, false);
  return document;
}

SEQTRAIN_SEPARATE Document::Document(std::string name)
    : source_{new Source{.name = std::move(name)}} {}
SEQTRAIN_SEPARATE Document::Document(Document&&) noexcept = default;
SEQTRAIN_SEPARATE Document& Document::operator=(Document&&) noexcept = default;
SEQTRAIN_SEPARATE Document::~Document() = default;

SEQTRAIN_SEPARATE Value Document::root() const {
  return Value{source_->root, source_->name, ""};
}

SEQTRAIN_SEPARATE void Document::parse_text(std::string_view text, bool padded) {
  const auto code = json::parse(source_->parser, text, padded, source_->root);
  if (code != simdjson::SUCCESS) {
    throw InputError{std::string{"not valid JSON: "} + simdjson::error_message(code),
                     {.object = source_->name}};
  }
}

}  // namespace seqtrain::json
