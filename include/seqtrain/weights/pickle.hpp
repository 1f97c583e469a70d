#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace seqtrain::weights {

/// A Python pickle as plain data. Nothing is executed: a class or a function is represented by its
/// name, and a call by the name and the arguments. All values are in one array and refer to each
/// other by index, so several values may refer to one, and a value even to itself. Strings refer to
/// the pickle's bytes.
struct Pickle {
  using Ref = std::uint32_t;

  struct None {};
  struct Tuple {
    std::vector<Ref> items;
  };
  struct List {
    std::vector<Ref> items;
  };
  struct Dict {
    std::vector<std::pair<Ref, Ref>> members;
  };
  struct Global {
    std::string name;  ///< module and name with a dot between them
  };
  struct Call {
    Ref function;   ///< a Global
    Ref arguments;  ///< a Tuple
  };
  struct Persistent {
    Ref id;  ///< the object itself is outside the pickle
  };
  using Value = std::variant<None, bool, std::int64_t, double, std::string_view, Tuple, List, Dict,
                             Global, Call, Persistent>;

  std::vector<Value> values;
  Ref root = 0;

  [[nodiscard]] const Value& operator[](Ref ref) const { return values[ref]; }

  /// Returns the value as a T, or null if it has another type.
  template <class T>
  [[nodiscard]] const T* get_if(Ref ref) const {
    return std::get_if<T>(&values[ref]);
  }
};

}  // namespace seqtrain::weights
