#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>

namespace simdjson::dom {
class element;
}  // namespace simdjson::dom

namespace seqtrain::json {

/// A value inside a `Document`, which must outlive it. An access that does not fit the value throws
/// `InputError` with the file and the path of the field, e.g. `config.json: model.merges[3]`.
class Value {
 public:
  Value(simdjson::dom::element element, const std::string& file, std::string path);

  /// Returns the member `key`, or nothing if it is absent or null. If the key is repeated, its last
  /// value counts, as in Python.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;

  /// Tells whether the member `key` is present and null.
  [[nodiscard]] bool has_null(std::string_view key) const;

  /// Returns a member. Throws `InputError` if it is missing.
  [[nodiscard]] Value at(std::string_view key) const;

  /// Returns a string, or the digits of an integer.
  [[nodiscard]] std::string string_or_digits() const;

  [[nodiscard]] std::string_view string() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_integer() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;

  [[nodiscard]] std::vector<Value> items() const;

  [[nodiscard]] std::vector<std::pair<std::string_view, Value>> members() const;

  /// Returns the parser's own value, for loops over many thousands of entries. A caller includes
  /// simdjson.h.
  [[nodiscard]] simdjson::dom::element element() const;

  /// Returns an error at this place, to be thrown.
  [[nodiscard]] InputError error(const std::string& problem, const std::string& advice = {}) const;

 private:
  template <class T>
  [[nodiscard]] T get(const char* expected) const;

  [[nodiscard]] std::string child(std::string_view key) const;

  /// The bytes of the parser's value, so that this header does without the parser's.
  alignas(void*) std::array<std::byte, 2 * sizeof(void*)> element_;
  const std::string* file_;
  std::string path_;
};

/// A parsed JSON text. Its strings are valid UTF-8, which the parser checks.
class Document {
 public:
  /// Parses a file. Throws `InputError` if it cannot be read, is no regular file or is not JSON.
  static Document load(const std::filesystem::path& file);

  /// Parses a text. Errors call it `name`.
  static Document parse(std::string_view text, std::string name);

  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  [[nodiscard]] Value root() const;

 private:
  struct Source;

  explicit Document(std::string name);

  void parse_text(std::string_view text, bool padded);

  std::unique_ptr<Source> source_;
};

}  // namespace seqtrain::json

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/core/src/json.hpp>
#endif
