#pragma once

#include <algorithm>
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
#include <seqtrain/core/read_text.hpp>

namespace seqtrain::json {

/// A value inside a `Document`, which must outlive it. An access that does not fit the value throws
/// `InputError` with the file and the path of the field, e.g. `config.json: model.merges[3]`.
class Value {
 public:
  Value(simdjson::dom::element element, const std::string& file, std::string path)
      : element_{element}, file_{&file}, path_{std::move(path)} {}

  /// Returns the member `key`, or nothing if it is absent or null. If the key is repeated, its last
  /// value counts, as in Python.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const {
    const auto member = last(get<simdjson::dom::object>("an object"), key);
    if (!member || member->is_null()) return {};
    return Value{*member, *file_, child(key)};
  }

  /// Tells whether the member `key` is present and null.
  [[nodiscard]] bool has_null(std::string_view key) const {
    const auto member = last(get<simdjson::dom::object>("an object"), key);
    return member && member->is_null();
  }

  /// Returns a member. Throws `InputError` if it is missing.
  [[nodiscard]] Value at(std::string_view key) const {
    auto member = find(key);
    if (!member) throw InputError{"missing", {.object = *file_, .field = child(key)}};
    return *std::move(member);
  }

  /// Returns a string, or the digits of an integer.
  [[nodiscard]] std::string string_or_digits() const {
    return is_integer() ? std::to_string(integer()) : std::string{string()};
  }

  [[nodiscard]] std::string_view string() const { return get<std::string_view>("a string"); }
  [[nodiscard]] std::int64_t integer() const { return get<std::int64_t>("an integer"); }
  [[nodiscard]] double number() const { return get<double>("a number"); }
  [[nodiscard]] bool boolean() const { return get<bool>("true or false"); }
  [[nodiscard]] bool is_string() const { return element_.is_string(); }
  [[nodiscard]] bool is_integer() const { return element_.is<std::int64_t>(); }
  [[nodiscard]] bool is_number() const { return element_.is_number(); }
  [[nodiscard]] bool is_boolean() const { return element_.is_bool(); }
  [[nodiscard]] bool is_array() const { return element_.is_array(); }
  [[nodiscard]] bool is_object() const { return element_.is_object(); }

  [[nodiscard]] std::vector<Value> items() const {
    std::vector<Value> result;
    for (auto item : get<simdjson::dom::array>("an array")) {
      result.emplace_back(item, *file_, path_ + "[" + std::to_string(result.size()) + "]");
    }
    return result;
  }

  [[nodiscard]] std::vector<std::pair<std::string_view, Value>> members() const {
    std::vector<std::pair<std::string_view, Value>> result;
    for (auto member : get<simdjson::dom::object>("an object")) {
      result.emplace_back(member.key, Value{member.value, *file_, child(member.key)});
    }
    return result;
  }

  /// Returns the parser's own value, for loops over many thousands of entries.
  [[nodiscard]] simdjson::dom::element element() const { return element_; }

  /// Returns an error at this place, to be thrown.
  [[nodiscard]] InputError error(const std::string& problem, const std::string& advice = {}) const {
    return InputError{problem, {.object = *file_, .field = path_}, advice};
  }

 private:
  template <class T>
  [[nodiscard]] T get(const char* expected) const {
    T value;
    if (element_.get(value) != simdjson::SUCCESS) throw error(std::string{"expected "} + expected);
    return value;
  }

  static std::optional<simdjson::dom::element> last(simdjson::dom::object object,
                                                    std::string_view key) {
    std::optional<simdjson::dom::element> found;
    for (const auto member : object) {
      if (member.key == key) found = member.value;
    }
    return found;
  }

  [[nodiscard]] std::string child(std::string_view key) const {
    return path_.empty() ? std::string{key} : path_ + "." + std::string{key};
  }

  simdjson::dom::element element_;
  const std::string* file_;
  std::string path_;
};

namespace detail {

/// Writes integers of more than 18 digits as floating-point numbers, because the parser rejects
/// integers beyond 64 bits, and Hugging Face's files write 10^30 for "no limit".
[[nodiscard]] inline std::string with_wide_integers(std::string_view text) {
  constexpr std::string_view number = "+-.0123456789Ee";
  std::string out;
  bool inside_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end =
        inside_string ? i : std::min(text.find_first_not_of(number, i), text.size());
    if (end > i) {
      const auto digits = text.substr(i, end - i);
      out += digits;
      if (digits.size() > 18 && digits.find_first_of(".Ee") == digits.npos) out += "e0";
      i = end;
    } else {
      if (inside_string && text[i] == '\\' && i + 1 < text.size())
        out.push_back(text[i++]);
      else if (text[i] == '"')
        inside_string = !inside_string;
      out.push_back(text[i++]);
    }
  }
  return out;
}

}  // namespace detail

/// Parses a text into a document of the parser. Integers beyond 64 bits become floating-point
/// numbers. A byte order mark is an error, although newer versions of simdjson skip it. `padded`
/// says that `simdjson::SIMDJSON_PADDING` bytes after the text may be read.
[[nodiscard]] inline simdjson::error_code parse(simdjson::dom::parser& parser,
                                                std::string_view text, bool padded,
                                                simdjson::dom::element& root) {
  if (text.empty()) return simdjson::EMPTY;  // Its pointer may be null, which simdjson copies from.
  if (text.starts_with("\xEF\xBB\xBF")) return simdjson::TAPE_ERROR;
  const auto code = parser.parse(text.data(), text.size(), !padded).get(root);
  if (code == simdjson::SUCCESS) return code;
  const simdjson::padded_string other{detail::with_wide_integers(text)};
  return parser.parse(other).get(root);
}

/// A parsed JSON text. Its strings are valid UTF-8, which the parser checks.
class Document {
 public:
  /// Parses a file. Throws `InputError` if it cannot be read, is no regular file or is not JSON.
  static Document load(const std::filesystem::path& file) {
    Document document{file.string()};
    document.parse_text(read_text(file, simdjson::SIMDJSON_PADDING), true);
    return document;
  }

  /// Parses a text. Errors call it `name`.
  static Document parse(std::string_view text, std::string name) {
    Document document{std::move(name)};
    document.parse_text(text, false);
    return document;
  }

  [[nodiscard]] Value root() const { return Value{root_, source_->name, ""}; }

 private:
  // Values point at the name and into the parser, so neither may move.
  struct Source {
    std::string name;
    simdjson::dom::parser parser{};
  };

  explicit Document(std::string name) : source_{new Source{.name = std::move(name)}} {}

  void parse_text(std::string_view text, bool padded) {
    const auto code = json::parse(source_->parser, text, padded, root_);
    if (code != simdjson::SUCCESS) {
      throw InputError{std::string{"not valid JSON: "} + simdjson::error_message(code),
                       {.object = source_->name}};
    }
  }

  std::unique_ptr<Source> source_;
  simdjson::dom::element root_;
};

}  // namespace seqtrain::json
