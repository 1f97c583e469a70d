#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/type.h>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/parquet/status.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::parquet {

namespace detail {

/// Tells whether an array of this type holds strings, directly or through a dictionary.
[[nodiscard]] inline bool is_text(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return true;
    case arrow::Type::DICTIONARY:
      return is_text(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default:
      return false;
  }
}

/// Calls `use` with the number at `row`: an integer, a float, a double or a bool. Returns false if
/// an array of this type holds no such numbers.
template <class Use>
bool with_number(const arrow::Array& array, std::int64_t row, const Use& use) {
  const auto call = [&]<class A>(std::type_identity<A>) {
    use(static_cast<const A&>(array).Value(row));
    return true;
  };
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return call(std::type_identity<arrow::Int8Array>{});
    case arrow::Type::INT16:
      return call(std::type_identity<arrow::Int16Array>{});
    case arrow::Type::INT32:
      return call(std::type_identity<arrow::Int32Array>{});
    case arrow::Type::INT64:
      return call(std::type_identity<arrow::Int64Array>{});
    case arrow::Type::UINT8:
      return call(std::type_identity<arrow::UInt8Array>{});
    case arrow::Type::UINT16:
      return call(std::type_identity<arrow::UInt16Array>{});
    case arrow::Type::UINT32:
      return call(std::type_identity<arrow::UInt32Array>{});
    case arrow::Type::UINT64:
      return call(std::type_identity<arrow::UInt64Array>{});
    case arrow::Type::FLOAT:
      return call(std::type_identity<arrow::FloatArray>{});
    case arrow::Type::DOUBLE:
      return call(std::type_identity<arrow::DoubleArray>{});
    case arrow::Type::BOOL:
      return call(std::type_identity<arrow::BooleanArray>{});
    default:
      return false;
  }
}

/// Tells whether an array of this type holds numbers.
[[nodiscard]] inline bool is_number(const arrow::DataType& type) {
  const auto id = type.id();
  return (arrow::is_integer(id) || id == arrow::Type::FLOAT || id == arrow::Type::DOUBLE ||
          id == arrow::Type::BOOL);
}

/// Tells whether an array of this type holds lists.
[[nodiscard]] inline bool is_list(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
         type.id() == arrow::Type::FIXED_SIZE_LIST;
}

}  // namespace detail

/// The strings of neighbouring rows of a column.
class Texts {
 public:
  /// Both arguments must outlive this object.
  Texts(const arrow::Array& array, const Place& place) : values_{&array}, place_{&place} {
    if (array.type_id() == arrow::Type::DICTIONARY) {
      dictionary_ = static_cast<const arrow::DictionaryArray*>(&array);
      values_ = dictionary_->dictionary().get();
    }
    if (const auto all = all_strings(); text::is_valid_utf8(all)) utf8_ = all;
  }

  /// Returns a row's string, or nothing if it is null. Throws `InputError` if it is not UTF-8.
  [[nodiscard]] std::optional<std::string_view> at(std::int64_t row) const {
    std::int64_t index = row;
    if (dictionary_ != nullptr) {
      if (dictionary_->IsNull(row)) return {};
      index = dictionary_->GetValueIndex(row);
      if (index < 0 || index >= values_->length()) {
        throw place_->error("is outside its dictionary", row, "write the file again");
      }
    }
    if (values_->IsNull(index)) return {};
    const std::string_view text = view(index);
    if (utf8_.empty() ? !text::is_valid_utf8(text) : is_cut(text)) {
      throw place_->error("not valid UTF-8", row, "convert the texts to UTF-8");
    }
    return text;
  }

 private:
  /// Returns all strings one after the other if the array stores them so, else "".
  [[nodiscard]] std::string_view all_strings() const {
    const auto of = [](const auto& array) -> std::string_view {
      const auto bytes = static_cast<std::size_t>(array.total_values_length());
      if (bytes == 0) return {};
      return {reinterpret_cast<const char*>(array.raw_data()) + array.value_offset(0), bytes};
    };
    switch (values_->type_id()) {
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
        return of(static_cast<const arrow::BinaryArray&>(*values_));
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY:
        return of(static_cast<const arrow::LargeBinaryArray&>(*values_));
      default:
        return {};
    }
  }

  /// Tells whether a string, which is a part of `utf8_`, begins or ends inside a character.
  [[nodiscard]] bool is_cut(std::string_view text) const {
    const char* const end = text.data() + text.size();
    return !text.empty() && (text::is_continuation(text.front()) ||
                             (end != utf8_.data() + utf8_.size() && text::is_continuation(*end)));
  }

  [[nodiscard]] std::string_view view(std::int64_t index) const {
    switch (values_->type_id()) {
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
        return static_cast<const arrow::BinaryArray*>(values_)->GetView(index);
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY:
        return static_cast<const arrow::LargeBinaryArray*>(values_)->GetView(index);
      default:
        return static_cast<const arrow::BinaryViewArray*>(values_)->GetView(index);
    }
  }

  const arrow::Array* values_;
  const Place* place_;
  const arrow::DictionaryArray* dictionary_ = nullptr;
  std::string_view utf8_;  ///< all strings one after the other, if they are UTF-8 as a whole
};

/// Describes how the labels of a column are read.
struct LabelForm {
  std::vector<std::string> names = {};  ///< the names of its `ClassLabel`, by id
  bool as_json = false;  ///< labels are passed on as JSON text, for numbers and lists
};

/// The labels of neighbouring rows of a column in the form of JSON lines: strings unchanged,
/// numbers as digits, lists as arrays. A `ClassLabel` becomes its name.
class LabelCells {
 public:
  /// All arguments must outlive this object.
  LabelCells(const arrow::Array& array, const LabelForm& form, const Place& place)
      : array_{&array}, form_{&form}, place_{&place} {
    if (detail::is_text(*array.type())) texts_.emplace(array, place);
  }

  /// Returns a row's label, or nothing if it is null. The text is valid until the next call. Throws
  /// `InputError` if it cannot be a label.
  std::optional<std::string_view> at(std::int64_t row) {
    if (texts_) return texts_->at(row);
    if (array_->IsNull(row)) return {};
    if (detail::is_list(*array_->type())) return list(row);
    detail::with_number(*array_, row, [&](auto number) { text_ = scalar(number, row); });
    return text_;
  }

 private:
  std::string_view list(std::int64_t row) {
    switch (array_->type_id()) {
      case arrow::Type::LIST:
        return list_of(static_cast<const arrow::ListArray&>(*array_), row);
      case arrow::Type::LARGE_LIST:
        return list_of(static_cast<const arrow::LargeListArray&>(*array_), row);
      default:
        return list_of(static_cast<const arrow::FixedSizeListArray&>(*array_), row);
    }
  }

  template <class List>
  std::string_view list_of(const List& lists, std::int64_t row) {
    const arrow::Array& items = *lists.values();
    const std::int64_t begin = lists.value_offset(row);
    const std::int64_t end = begin + lists.value_length(row);
    if (begin < 0 || end < begin || end > items.length()) {
      throw place_->error("a list reaches outside its values", row, "write the file again");
    }
    json::Writer out;
    out.begin_array();
    for (std::int64_t i = begin; i < end; ++i) add_item(items, i, row, out);
    text_ = out.end_array().text();
    return text_;
  }

  void add_item(const arrow::Array& items, std::int64_t i, std::int64_t row, json::Writer& out) {
    if (items.IsNull(i)) throw place_->error("a list holds a null", row);
    if (detail::is_text(*items.type())) {
      out.value(Texts{items, *place_}.at(i).value_or(""));
      return;
    }
    detail::with_number(items, i, [&]<class Number>(Number number) {
      if constexpr (std::is_integral_v<Number> && !std::is_same_v<Number, bool>) {
        if (!form_->names.empty()) return void(out.value(name(number, row)));
      }
      out.value(number);
    });
  }

  template <class Number>
  std::string_view scalar(Number number, std::int64_t row) {
    if constexpr (std::is_same_v<Number, bool>) {
      return number ? "true" : "false";
    } else if constexpr (std::is_integral_v<Number>) {
      if (form_->as_json || form_->names.empty()) return digits(number);
      return std::cmp_equal(number, -1) ? data::no_label : name(number, row);
    } else {
      if (form_->as_json) return digits(number);
      if (std::abs(number) < 1e9 && std::trunc(number) == number) {
        return digits(static_cast<std::int64_t>(number));
      }
      throw place_->error("a label is a name or a whole number", row);
    }
  }

  template <class Number>
  std::string_view digits(Number number) {
    const auto end = std::to_chars(digits_, digits_ + sizeof digits_, number).ptr;
    return {digits_, static_cast<std::size_t>(end - digits_)};
  }

  /// Returns the name of a `ClassLabel`'s id.
  template <class Number>
  std::string_view name(Number id, std::int64_t row) const {
    if (std::cmp_greater_equal(id, 0) && std::cmp_less(id, form_->names.size())) {
      return form_->names[static_cast<std::size_t>(id)];
    }
    throw place_->error("label " + std::to_string(id) + " is out of range 0 to " +
                            std::to_string(form_->names.size() - 1),
                        row);
  }

  const arrow::Array* array_;
  const LabelForm* form_;
  const Place* place_;
  std::optional<Texts> texts_;
  std::string text_;
  char digits_[32] = {};
};

}  // namespace seqtrain::parquet
