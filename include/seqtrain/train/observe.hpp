#pragma once

#include <type_traits>

#include <seqtrain/train/events.hpp>

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

/// Tells whether an observer overloads `on` for an event.
template <class O, class Event>
concept Hears = requires(O& observer, const Event& event) {
  observer.on(event);
};

/// An observer of a fit, which overloads `on` for at least one event.
template <class O>
concept Observer = Hears<O, FitBegin> || Hears<O, StepEnd> || Hears<O, StepSkipped> ||
    Hears<O, EvalBegin> || Hears<O, EvalStep> || Hears<O, EvalAnswers> || Hears<O, EvalEnd> ||
    Hears<O, EpochEnd> || Hears<O, FitEnd> || Hears<O, Notice>;

/// Calls `observer.on(event)` if the observer has that overload.
template <class Event, class O>
void tell(O& observer, const Event& event) {
  if constexpr (Hears<O, Event>) observer.on(event);
}

/// Calls `on(event)` of each observer that has that overload, in order.
template <class Event, class... Observers>
void notify(const Event& event, Observers&... observers) {
  (tell(observers, event), ...);
}

}  // namespace seqtrain::train
