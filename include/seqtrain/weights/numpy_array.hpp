#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/weights/pickle.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::weights {

/// An array of numpy in a pickle: of numbers, texts or Python's objects.
struct NumpyArray {
  char kind = 'f';       ///< numpy's letter: f, i, u and b are numbers, U is text, O are objects
  std::size_t size = 0;  ///< bytes of an element
  std::vector<std::int64_t> shape = {};
  bool by_columns = false;                ///< in Fortran's order
  std::span<const std::byte> bytes = {};  ///< the elements if they are numbers or texts
  std::vector<Pickle::Ref> objects = {};  ///< the elements if they are objects

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(*numel(shape)); }

  /// Returns the elements in C's order, if they are numbers and there are at most two dimensions.
  [[nodiscard]] std::optional<std::vector<double>> numbers() const;
};

namespace detail {

inline constexpr std::string_view joblib_array = "joblib.numpy_pickle.NumpyArrayWrapper";

/// Returns the items of a tuple or a list if there are at least `least`, else null.
inline const std::vector<Pickle::Ref>* items_of(const Pickle& pickle,
                                                std::optional<Pickle::Ref> ref, std::size_t least) {
  if (!ref) return nullptr;
  const auto* tuple = pickle.get_if<Pickle::Tuple>(*ref);
  const auto* list = pickle.get_if<Pickle::List>(*ref);
  const auto* items = tuple ? &tuple->items : list ? &list->items : nullptr;
  return items != nullptr && items->size() >= least ? items : nullptr;
}

/// Tells whether elements of this kind may have `size` bytes.
inline bool is_supported(char kind, std::size_t size) {
  if (kind == 'f') return size == 4 || size == 8;
  if (kind == 'i' || kind == 'u') return size == 1 || size == 2 || size == 4 || size == 8;
  return kind == 'O' || (kind == 'b' && size == 1) ||
         (kind == 'U' && size >= 4 && size <= (1U << 20));
}

/// Returns an array with the element type that a numpy.dtype is, or nothing if it is another.
inline std::optional<NumpyArray> array_of_type(const Pickle& pickle, Pickle::Ref dtype) {
  if (pickle.called(dtype) != "numpy.dtype") return {};
  const auto& call = *pickle.get_if<Pickle::Call>(dtype);
  const auto* arguments = items_of(pickle, call.arguments, 1);
  const auto* state = items_of(pickle, call.state, 2);  // the version, the order of bytes, …
  if (arguments == nullptr || state == nullptr) return {};
  const auto* name = pickle.get_if<std::string_view>(arguments->front());
  const auto* order = pickle.get_if<std::string_view>((*state)[1]);
  if (name == nullptr || name->empty() || order == nullptr) return {};
  const auto number = parse_number<std::uint32_t>(std::string{name->substr(1)});
  if (!number || (*order != "<" && *order != "|")) return {};
  const char kind = name->front();
  const auto size = std::size_t{*number} * (kind == 'U' ? 4 : 1);  // a character is UTF-32
  if (!is_supported(kind, size)) return {};
  return NumpyArray{.kind = kind, .size = size};
}

/// Sets the shape. Returns false if it is not one, or if its elements have more than 63 bits of
/// bytes.
inline bool set_shape(const Pickle& pickle, Pickle::Ref shape, NumpyArray& array) {
  const auto* sizes = items_of(pickle, shape, 0);
  if (sizes == nullptr || sizes->size() > 64) return false;
  for (const auto item : *sizes) {
    const auto* size = pickle.get_if<std::int64_t>(item);
    if (size == nullptr || *size < 0) return false;
    array.shape.push_back(*size);
  }
  const auto count = numel(array.shape);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return count && (array.size == 0 || static_cast<std::uint64_t>(*count) <= most / array.size);
}

/// Returns the array that joblib describes by an object with this state, without its elements,
/// which follow in the file; or nothing if such an array is not supported.
inline std::optional<NumpyArray> described_by_joblib(const Pickle& pickle, Pickle::Ref state) {
  const auto dtype = pickle.member(state, "dtype");
  const auto shape = pickle.member(state, "shape");
  const auto order = pickle.member(state, "order");
  auto array = dtype ? array_of_type(pickle, *dtype) : std::nullopt;
  if (!array || !shape || !order || !set_shape(pickle, *shape, *array)) return {};
  const auto* letter = pickle.get_if<std::string_view>(*order);
  if (letter == nullptr) return {};
  array->by_columns = *letter == "F";
  return array;
}

/// Takes the elements from a value of a pickle: bytes, or a list of objects. Returns nothing if
/// they are not as many as the shape says.
inline std::optional<NumpyArray> with_elements(const Pickle& pickle, Pickle::Ref from,
                                               NumpyArray array) {
  if (array.kind == 'O') {
    const auto* items = items_of(pickle, from, array.count());
    if (items == nullptr || items->size() != array.count()) return {};
    array.objects = *items;
    return array;
  }
  const auto* data = pickle.get_if<Pickle::Bytes>(from);
  if (data == nullptr || data->bytes.size() != array.count() * array.size) return {};
  array.bytes = data->bytes;
  return array;
}

/// Returns the array that numpy itself has pickled: by _reconstruct, whose state has the version,
/// shape, type, order and elements, or by _frombuffer(elements, type, shape, order).
inline std::optional<NumpyArray> pickled_by_numpy(const Pickle& pickle, const Pickle::Call& call,
                                                  std::string_view function) {
  const bool by_state = function.ends_with("multiarray._reconstruct");
  if (!by_state && !function.ends_with("numeric._frombuffer")) return {};
  const auto* parts = items_of(pickle, by_state ? call.state : call.arguments, by_state ? 5 : 4);
  if (parts == nullptr) return {};
  const auto at = [&](std::size_t in_state, std::size_t argument) {
    return (*parts)[by_state ? in_state : argument];
  };
  auto array = array_of_type(pickle, at(2, 1));
  if (!array || !set_shape(pickle, at(1, 2), *array)) return {};
  const auto* fortran = pickle.get_if<bool>(at(3, 3));
  const auto* letter = pickle.get_if<std::string_view>(at(3, 3));
  array->by_columns = (fortran != nullptr && *fortran) || (letter != nullptr && *letter == "F");
  return with_elements(pickle, at(4, 0), *std::move(array));
}

template <class T>
double number_at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

inline double number_at(const std::byte* from, char kind, std::size_t size) {
  if (kind == 'f') return size == 4 ? number_at<float>(from) : number_at<double>(from);
  const bool is_signed = kind == 'i';
  if (size == 1) return is_signed ? number_at<std::int8_t>(from) : number_at<std::uint8_t>(from);
  if (size == 2) return is_signed ? number_at<std::int16_t>(from) : number_at<std::uint16_t>(from);
  if (size == 4) return is_signed ? number_at<std::int32_t>(from) : number_at<std::uint32_t>(from);
  return is_signed ? number_at<std::int64_t>(from) : number_at<std::uint64_t>(from);
}

}  // namespace detail

inline std::optional<std::vector<double>> NumpyArray::numbers() const {
  if (kind == 'U' || kind == 'O' || shape.size() > 2) return {};
  const std::size_t all = count();
  const std::size_t columns = shape.size() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
  const std::size_t rows = columns == 0 ? 0 : all / columns;
  std::vector<double> result;
  result.reserve(all);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t place = by_columns ? column * rows + row : row * columns + column;
      result.push_back(detail::number_at(bytes.data() + place * size, kind, size));
    }
  }
  return result;
}

/// Returns the array that a value of a pickle is, as numpy or joblib has written it, or nothing if
/// it is none or one of a type that is not supported.
[[nodiscard]] inline std::optional<NumpyArray> numpy_array(const Pickle& pickle, Pickle::Ref ref) {
  const std::string_view name = pickle.called(ref);
  if (name.empty()) return {};
  const auto& call = *pickle.get_if<Pickle::Call>(ref);
  if (name != detail::joblib_array) return detail::pickled_by_numpy(pickle, call, name);
  if (!call.state || !call.contents) return {};
  // joblib lets numpy pickle an array of objects by itself.
  if (pickle.get_if<Pickle::Call>(*call.contents) != nullptr) {
    const auto& inner = *pickle.get_if<Pickle::Call>(*call.contents);
    return detail::pickled_by_numpy(pickle, inner, pickle.called(*call.contents));
  }
  auto array = detail::described_by_joblib(pickle, *call.state);
  if (!array) return {};
  return detail::with_elements(pickle, *call.contents, *std::move(array));
}

namespace detail {

inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xE0 | code >> 12);
    } else {
      byte(0xF0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3F));
    }
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

/// Returns a text in UTF-32, which zeros fill up, as UTF-8, or nothing if it has other codes than
/// those of characters.
inline std::optional<std::string> from_utf32(std::span<const std::byte> bytes) {
  std::string text;
  std::size_t end = bytes.size();
  const auto code_at = [&](std::size_t place) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + place, sizeof code);
    return code;
  };
  while (end >= 4 && code_at(end - 4) == 0) end -= 4;
  for (std::size_t place = 0; place < end; place += 4) {
    const std::uint32_t code = code_at(place);
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
    append_utf8(text, code);
  }
  return text;
}

}  // namespace detail

/// Returns element `i` of an array as text if it is text or an integer, or nothing.
[[nodiscard]] inline std::optional<std::string> text_at(const Pickle& pickle,
                                                        const NumpyArray& array, std::size_t i) {
  if (array.kind == 'U') return detail::from_utf32(array.bytes.subspan(i * array.size, array.size));
  if (array.kind != 'O') return {};
  const auto* text = pickle.get_if<std::string_view>(array.objects[i]);
  const auto* number = pickle.get_if<std::int64_t>(array.objects[i]);
  if (text != nullptr) return std::string{*text};
  if (number != nullptr) return std::to_string(*number);
  return {};
}

}  // namespace seqtrain::weights
