#pragma once

#include <type_traits>

namespace seqtrain::train {

/// Stands for an argument that was not given.
struct NoPart {};

/// Returns the first argument whose type has the property, or `NoPart`.
template <template <class> class Property, class First, class... Rest>
decltype(auto) find_part(First& first, Rest&... rest);

template <template <class> class Property>
NoPart find_part() {
  return {};
}

template <template <class> class Property, class First, class... Rest>
decltype(auto) find_part(First& first, Rest&... rest) {
  if constexpr (Property<std::remove_const_t<First>>::value) {
    return (first);
  } else {
    return find_part<Property>(rest...);
  }
}

}  // namespace seqtrain::train
