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
#include <arrow/scalar.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <arrow/visit_array_inline.h>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/parquet/status.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::parquet {

namespace detail {

/// Tells whether an array of this type holds strings, directly or through a dictionary.
[[nodiscard]] inline bool is_text(const arrow::DataType& type) {
  const auto id = type.id();
  if (id == arrow::Type::DICTIONARY) {
    return is_text(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  return arrow::is_base_binary_like(id) || id == arrow::Type::STRING_VIEW ||
         id == arrow::Type::BINARY_VIEW;
}

/// Returns a decimal as digits, without zeros at the end of its fraction: `2.5` for 25000 with a
/// scale of 4. `digits` is the decimal without its point.
[[nodiscard]] inline std::string decimal_text(std::string digits, std::int32_t scale) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  if (scale < 0 && digits != "0") digits.append(static_cast<std::size_t>(-scale), '0');
  if (scale > 0) {
    const auto fraction = static_cast<std::size_t>(scale);
    if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
    digits.insert(digits.size() - fraction, ".");
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
  }
  return negative && digits != "0" ? "-" + digits : digits;
}

/// A visitor of arrays that calls `use` with the number at `row` if an array has numbers: integers,
/// floats of any width or bools. A decimal becomes a `std::string`.
template <class Use>
struct NumberAt {
  std::int64_t row;
  const Use& use;

  template <class A>
  arrow::Status Visit(const A& array) const {
    using T = typename A::TypeClass;
    if constexpr (arrow::is_integer_type<T>::value || std::is_same_v<T, arrow::FloatType> ||
                  std::is_same_v<T, arrow::DoubleType> || std::is_same_v<T, arrow::BooleanType>) {
      use(array.Value(row));
    } else if constexpr (std::is_same_v<T, arrow::HalfFloatType>) {
      use(arrow::util::Float16::FromBits(array.Value(row)).ToFloat());
    } else if constexpr (arrow::is_decimal_type<T>::value) {
      const typename arrow::TypeTraits<T>::CType value{array.GetValue(row)};
      const auto& type = static_cast<const arrow::DecimalType&>(*array.type());
      use(decimal_text(value.ToIntegerString(), type.scale()));
    }
    return arrow::Status::OK();
  }
};

/// Calls `use` with the number at `row` if the array has numbers, as `NumberAt` says.
template <class Use>
void with_number(const arrow::Array& array, std::int64_t row, const Use& use) {
  const NumberAt<Use> visitor{row, use};
  static_cast<void>(arrow::VisitArrayInline(array, &visitor));
}

/// Tells whether an array of this type holds numbers.
[[nodiscard]] inline bool is_number(const arrow::DataType& type) {
  const auto id = type.id();
  return arrow::is_integer(id) || arrow::is_floating(id) || arrow::is_decimal(id) ||
         id == arrow::Type::BOOL;
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
    return with_strings([]<class A>(const A& array) -> std::string_view {
      if constexpr (!std::is_same_v<A, arrow::BinaryViewArray>) {
        const auto bytes = static_cast<std::size_t>(array.total_values_length());
        if (bytes == 0) return {};
        return {reinterpret_cast<const char*>(array.raw_data()) + array.value_offset(0), bytes};
      } else {
        return {};
      }
    });
  }

  /// Tells whether a string, which is a part of `utf8_`, begins or ends inside a character.
  [[nodiscard]] bool is_cut(std::string_view text) const {
    const char* const end = text.data() + text.size();
    return !text.empty() && (text::is_continuation(text.front()) ||
                             (end != utf8_.data() + utf8_.size() && text::is_continuation(*end)));
  }

  [[nodiscard]] std::string_view view(std::int64_t index) const {
    return with_strings([&](const auto& array) { return array.GetView(index); });
  }

  /// Returns the result of `use` for the array of strings as its own type.
  template <class Use>
  [[nodiscard]] std::string_view with_strings(const Use& use) const {
    const auto id = values_->type_id();
    if (arrow::is_binary_like(id)) return use(static_cast<const arrow::BinaryArray&>(*values_));
    if (arrow::is_large_binary_like(id)) {
      return use(static_cast<const arrow::LargeBinaryArray&>(*values_));
    }
    return use(static_cast<const arrow::BinaryViewArray&>(*values_));
  }

  const arrow::Array* values_;
  const Place* place_;
  const arrow::DictionaryArray* dictionary_ = nullptr;
  std::string_view utf8_;  ///< all strings one after the other, if they are UTF-8 as a whole
};

/// Describes how the labels of a column are read.
struct LabelForm {
  std::vector<std::string> names = {};  ///< the names of its `ClassLabel`, by id
  bool as_json = false;      ///< labels are passed on as JSON text, for numbers and lists
  bool skips_nulls = false;  ///< a list with a null is no label
};

/// The labels of neighbouring rows of a column in the form of JSON lines: strings unchanged,
/// numbers as digits, lists as arrays, or as their only item if a row has one label. A `ClassLabel`
/// becomes its name.
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
    if (detail::is_list(*array_->type())) {
      return form_->as_json ? with_list(row, &LabelCells::as_array)
                            : with_list(row, &LabelCells::only_item);
    }
    detail::with_number(*array_, row, [&](auto number) { text_ = scalar(number, row); });
    return text_;
  }

 private:
  /// The items of a row's list: those of `values` from `begin` to `end`.
  struct Items {
    const arrow::Array& values;
    std::int64_t begin, end;
  };
  using Label = std::optional<std::string_view>;

  /// Returns the label that a member function makes from the items of a row's list.
  Label with_list(std::int64_t row, Label (LabelCells::*use)(const Items&, std::int64_t)) {
    const auto id = array_->type_id();
    const auto of = [&](const auto& lists) {
      const std::int64_t begin = lists.value_offset(row);
      const Items items{*lists.values(), begin, begin + lists.value_length(row)};
      if (begin < 0 || items.end < begin || items.end > items.values.length()) {
        throw place_->error("a list reaches outside its values", row, "write the file again");
      }
      return (this->*use)(items, row);
    };
    if (id == arrow::Type::LIST) return of(static_cast<const arrow::ListArray&>(*array_));
    return id == arrow::Type::LARGE_LIST
               ? of(static_cast<const arrow::LargeListArray&>(*array_))
               : of(static_cast<const arrow::FixedSizeListArray&>(*array_));
  }

  Label as_array(const Items& items, std::int64_t row) {
    json::Writer out;
    out.begin_array();
    for (std::int64_t i = items.begin; i < items.end; ++i) {
      if (form_->skips_nulls && items.values.IsNull(i)) return {};
      add_item(items.values, i, row, out);
    }
    text_ = out.end_array().text();
    return text_;
  }

  /// Returns the only item, or nothing if there is none.
  Label only_item(const Items& items, std::int64_t row) {
    const std::int64_t count = items.end - items.begin;
    if (count == 0) return {};
    if (count > 1) {
      throw place_->error("holds " + std::to_string(count) + " labels, expected one", row,
                          "several labels a row are --problem-type multi_label_classification");
    }
    if (items.values.IsNull(items.begin)) throw place_->error("a list holds a null", row);
    if (detail::is_text(*items.values.type())) {
      text_ = Texts{items.values, *place_}.at(items.begin).value_or("");
    } else {
      detail::with_number(items.values, items.begin,
                          [&](auto number) { text_ = scalar(number, row); });
    }
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
      if constexpr (std::is_same_v<Number, std::string>) {
        out.raw(number);
      } else {
        out.value(number);
      }
    });
  }

  template <class Number>
  std::string_view scalar(Number number, std::int64_t row) {
    if constexpr (std::is_same_v<Number, bool>) {
      return number ? "true" : "false";
    } else if constexpr (std::is_same_v<Number, std::string>) {
      return decimal_ = number;
    } else if constexpr (std::is_integral_v<Number>) {
      if (form_->as_json || form_->names.empty()) return digits(number);
      return std::cmp_equal(number, -1) ? data::no_label : name(number, row);
    } else {
      if (form_->as_json) return digits(number);
      if (std::abs(number) < 1e9 && std::trunc(number) == number) {
        return digits(static_cast<std::int64_t>(number));
      }
      throw place_->error("a label is a name or a whole number", row,
                          "numbers to predict are --problem-type regression");
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
  std::string decimal_;
  char digits_[32] = {};
};

/// The values of neighbouring rows of a column that are passed on: strings, numbers, or what Arrow
/// prints for a value of another type, such as a date.
class KeptCells {
 public:
  /// Both arguments must outlive this object.
  KeptCells(const arrow::Array& array, const Place& place) : array_{&array}, place_{&place} {
    if (detail::is_text(*array.type())) texts_.emplace(array, place);
  }

  /// Returns the value of a row. It is valid until the next call.
  [[nodiscard]] data::KeptValue at(std::int64_t row) {
    constexpr data::KeptValue none{.text = "null", .is_json = true};
    if (texts_) {
      const auto text = texts_->at(row);
      return text ? data::KeptValue{*text} : none;
    }
    if (array_->IsNull(row)) return none;
    if (!detail::is_number(*array_->type())) {
      text_ = value_of(array_->GetScalar(row), *place_)->ToString();
      return {text_};
    }
    detail::with_number(*array_, row, [&]<class Number>(const Number& number) {
      json::Writer out;
      if constexpr (std::is_same_v<Number, std::string>) {
        out.raw(number);
      } else {
        out.value(number);
      }
      text_ = out.text();
    });
    return {.text = text_, .is_json = true};
  }

 private:
  const arrow::Array* array_;
  const Place* place_;
  std::optional<Texts> texts_;
  std::string text_;
};

}  // namespace seqtrain::parquet
