#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain::weights::detail {

/// The bytes of a pickle, from which the arguments of opcodes are read.
class PickleInput {
 public:
  /// `file` names the file in errors. Both arguments must outlive this object.
  PickleInput(std::span<const std::byte> bytes, const std::string& file)
      : rest_{bytes}, file_{&file} {}

  std::span<const std::byte> take(std::uint64_t size) {
    if (size > rest_.size()) throw error("cut off in the middle");
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  template <std::unsigned_integral T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  /// Reads an integer in little-endian two's complement of any number of bytes.
  std::int64_t long_integer() {
    const auto bytes = take(number<std::uint8_t>());
    require(bytes.size() <= 8, "an integer of more than 64 bits");
    if (bytes.empty()) return 0;
    const bool negative = (bytes.back() & std::byte{0x80}) != std::byte{0};
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  double big_endian_double() {
    std::uint64_t bits = 0;
    for (const auto byte : take(8)) bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    return std::bit_cast<double>(bits);
  }

  std::string_view string(std::uint64_t size) {
    const std::string_view text = as_text(take(size));
    require(simdjson::validate_utf8(text.data(), text.size()), "a string that is not UTF-8");
    return text;
  }

  std::string_view line() {
    const std::string_view text = as_text(rest_);
    const auto size = text.find('\n');
    take(size == std::string_view::npos ? rest_.size() + 1 : size + 1);
    return text.substr(0, size);
  }

  void require(bool holds, const char* problem) const {
    if (!holds) throw error(problem);
  }

  [[nodiscard]] InputError error(const std::string& problem, const std::string& advice = {}) const {
    return InputError{problem, {.object = *file_, .field = "pickle"}, advice};
  }

 private:
  std::span<const std::byte> rest_;
  const std::string* file_;
};

}  // namespace seqtrain::weights::detail

namespace seqtrain::weights {

/// A Python pickle as plain data. Nothing is executed: a class or a function is represented by its
/// name, and a call by the name and the arguments. All values are in one array and refer to each
/// other by index, so several values may refer to one, and a value even to itself. Strings refer to
/// the pickle's bytes.
struct Pickle {
  using Ref = std::uint32_t;

  struct None {};
  /// A tuple.
  struct Tuple {
    std::vector<Ref> items;
  };
  /// A list.
  struct List {
    std::vector<Ref> items;
  };
  /// A dict, as pairs of keys and values.
  struct Dict {
    std::vector<std::pair<Ref, Ref>> members;
  };
  /// A bytes object, which refers to the pickle's bytes.
  struct Bytes {
    std::span<const std::byte> bytes;
  };
  /// A class or function, by its name. The reader does not look it up.
  struct Global {
    std::string name;  ///< module and name with a dot between them
  };
  /// A call, which is recorded and never made.
  struct Call {
    Ref function;                      ///< a Global; a class if an object of it is made
    Ref arguments;                     ///< a Tuple
    std::optional<Ref> state = {};     ///< the object's attributes
    std::optional<Ref> contents = {};  ///< an array's that joblib wrote: Bytes, or a Call
  };
  /// A reference to an object outside the pickle.
  struct Persistent {
    Ref id;  ///< the object itself is outside the pickle
  };
  using Value = std::variant<None, bool, std::int64_t, double, std::string_view, Bytes, Tuple, List,
                             Dict, Global, Call, Persistent>;

  std::vector<Value> values;
  Ref root = 0;

  [[nodiscard]] const Value& operator[](Ref ref) const { return values[ref]; }

  /// Returns the value as a T, or null if it has another type.
  template <class T>
  [[nodiscard]] const T* get_if(Ref ref) const {
    return std::get_if<T>(&values[ref]);
  }

  /// Returns the name of the function or class that a call is of, or an empty one if the value is
  /// no call.
  [[nodiscard]] std::string_view called(Ref ref) const {
    const auto* call = get_if<Call>(ref);
    const auto* function = call != nullptr ? get_if<Global>(call->function) : nullptr;
    return function != nullptr ? std::string_view{function->name} : std::string_view{};
  }

  /// Returns the member `key` of a dict, or nothing if there is none. If several have that key, the
  /// last counts.
  [[nodiscard]] std::optional<Ref> member(Ref dict, std::string_view key) const {
    const auto* found = get_if<Dict>(dict);
    if (found == nullptr) return {};
    for (auto entry = found->members.rbegin(); entry != found->members.rend(); ++entry) {
      const auto* name = get_if<std::string_view>(entry->first);
      if (name != nullptr && *name == key) return entry->second;
    }
    return {};
  }
};

}  // namespace seqtrain::weights
