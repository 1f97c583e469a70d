#pragma once

#include <seqtrain/train/events.hpp>

namespace seqtrain::train {

template <class O, class Event>
concept Hears = requires(O& observer, const Event& event) {
  observer.on(event);
};

/// Something that follows a run: it overloads `on` for the events it wants to hear.
template <class O>
concept Observer =
    Hears<O, FitBegin> || Hears<O, StepEnd> || Hears<O, StepSkipped> || Hears<O, EvalStep> ||
    Hears<O, EvalEnd> || Hears<O, EpochEnd> || Hears<O, FitEnd> || Hears<O, Notice>;

/// Tells an observer, if it listens.
template <class Event, class O>
void tell(O& observer, const Event& event) {
  if constexpr (Hears<O, Event>) observer.on(event);
}

/// Tells each observer that listens, in order.
template <class Event, class... Observers>
void notify(const Event& event, Observers&... observers) {
  (tell(observers, event), ...);
}

}  // namespace seqtrain::train
