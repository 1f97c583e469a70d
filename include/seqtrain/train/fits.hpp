#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/gradients.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

// If policies or arguments do not make a `Trainer`, compilation ends with one plain sentence that
// says which of them lacks what. The pages in docs/concepts have the whole contract.

/// Fails to compile if an optional member of the model has a form that the trainer cannot use.
template <class M>
consteval void check_optional_members_of_model() {
  using B = typename M::batch_type;
  static_assert(
      !requires(M & m, const B& b) { m.weight_of(b); } ||
          requires(const M& m, const B& b) {
            { m.weight_of(b) } -> std::convertible_to<double>;
          },
      "the model's weight_of(batch) must be const and return a number");
  static_assert(
      !requires(M & m, const metrics::Logits& x, const B& b) { m.losses(x, b); } || TellsLosses<M>,
      "the model's losses(logits, batch) must be const and return metrics::RowLosses");
  static_assert(
      !requires(M & m, const B& b) { m.losses(b); } ||
          requires(M & m, const B& b) {
            { m.losses(b) } -> std::same_as<metrics::RowLosses>;
          },
      "the model's losses(batch) must return metrics::RowLosses");
  static_assert(
      !requires(M & m) { m.problem_type(); } ||
          requires(const M& m) {
            { m.problem_type() } -> std::same_as<ProblemType>;
          },
      "the model's problem_type() must be const and return a ProblemType");
  static_assert(
      !requires(M & m) { m.label_names(); } ||
          requires(const M& m) {
            { m.label_names() } -> std::convertible_to<std::vector<std::string>>;
          },
      "the model's label_names() must be const and return a std::vector<std::string>");
  static_assert(
      !(
          requires(M & m) { m.state_dict(); } ||
          requires(M & m, std::span<const weights::TensorView> t) { m.load_state_dict(t); }) ||
          Restorable<M>,
      "the model needs both state_dict(), whose views() are tensors, and load_state_dict(tensors)");
  static_assert(
      !requires { &M::accumulate_step; } || AccumulatesSteps<M>,
      "the model's accumulate_step(batches) must take a std::span<const batch_type> and return an "
      "object whose value() is a number");
  static_assert(
      !(
          requires { &M::logits_of; } || requires { &M::logits_window; }) ||
          AnswersWindows<M>,
      "the model needs both logits_of(batches), which takes a std::span<const batch_type>, and "
      "logits_window(), which returns a number");
}

/// Fails to compile unless the model can be trained.
template <class M>
consteval void check_model() {
  static_assert(std::movable<M>, "the model cannot be moved into the Trainer");
  static_assert(
      requires {
        typename M::batch_type;
        typename M::loss_type;
        typename M::parameter_type;
      },
      "the model does not name its batch_type, loss_type and parameter_type");
  static_assert(
      requires(M & m, const typename M::batch_type& b) {
        { m.accumulate(b, 1.0) } -> std::same_as<typename M::loss_type>;
      },
      "the model has no accumulate(batch, weight) that returns its loss_type");
  static_assert(
      requires(M & m) {
        { m.parameters() } -> std::convertible_to<std::span<const typename M::parameter_type>>;
      },
      "the model has no parameters() that returns a span of its parameter_type");
  static_assert(Model<M>, "the model does not satisfy seqtrain::Model");
  check_optional_members_of_model<M>();
}

/// Fails to compile unless the optimizer steps the model's parameters.
template <class M, class O>
consteval void check_optimizer() {
  static_assert(
      requires { typename O::parameter_type; }, "the optimizer does not name its parameter_type");
  static_assert(Optimizer<O>,
                "the optimizer lacks step(parameters, optim::Step) or learning_rate()");
  static_assert(OptimizerFor<O, M>,
                "the optimizer steps another parameter_type than the model has");
  static_assert(
      !requires { &O::exchange_averages; } ||
          requires(O & o, M & m) { o.exchange_averages(m.parameters()); },
      "the optimizer's exchange_averages does not take the model's parameters()");
}

/// Fails to compile unless the loader yields the model's batches.
template <class M, class L>
consteval void check_loader() {
  static_assert(
      requires(L & l) { l.epoch(0); }, "the loader has no epoch(number) that gives batches");
  static_assert(Loader<L>, "the loader lacks a batch_type, batches_in(epoch) or examples()");
  static_assert(LoaderFor<L, M>, "the loader yields another batch_type than the model takes");
}

/// Fails to compile unless the sink satisfies `Sink`.
template <class S>
consteval void check_sink() {
  static_assert(Sink<S>, "the sink lacks put(key, bytes), put_file(key, file) or flush()");
  static_assert(
      Store<S> || !requires(S & s) { s.list(std::string_view{}); },
      "the sink has list(key) but is no Store: see docs/concepts/store.md for what it lacks");
}

/// Fails to compile unless the four policies make a `Trainer`.
template <class M, class O, class L, class S>
consteval bool fits() {
  check_model<M>();
  check_optimizer<M, O>();
  check_loader<M, L>();
  check_sink<S>();
  return Trainable<M, O, L, S>;
}

/// Fails to compile unless `find_learning_rate` takes the model, the optimizer and the loader.
template <class M, class O, class L>
consteval bool fits_range_test() {
  check_model<M>();
  check_optimizer<M, O>();
  check_loader<M, L>();
  static_assert(Restorable<M>,
                "find_learning_rate puts the weights back, but the model has no state_dict and "
                "load_state_dict");
  return Restorable<M> && OptimizerFor<O, M> && LoaderFor<L, M>;
}

/// Tells whether an argument of `fit` was meant to be a loader.
template <class P>
concept LoaderLike = requires(P& part) {
  part.epoch(0);
}
|| requires(P& part) {
  part.batches_in(0);
}
|| requires(P& part) {
  part.examples();
};

/// Tells whether an argument of `fit` was meant to be a metric.
template <class P>
concept MetricLike = metrics::CountsLabels<P> || metrics::CountsTargets<P> || requires(P& part) {
  part.name;
  part.value();
};

/// Fails to compile unless the argument is an observer or a metric.
template <class P>
consteval void check_observer() {
  using T = std::remove_const_t<P>;
  constexpr bool is_metric = MetricLike<T> && !Observer<T> && !CountsEvaluations<T>;
  constexpr bool adds = metrics::CountsLabels<T> || metrics::CountsTargets<T>;
  constexpr bool merges = requires(T & metric, const T& other) {
    metric.merge(other);
  };
  static_assert(!is_metric || adds,
                "a metric has no add(const metrics::Logits&, std::span<const std::int64_t> labels) "
                "or add(const metrics::Logits&, std::span<const float> targets)");
  static_assert(!is_metric || merges,
                "a metric has no merge(const Metric&), which adds what another object has counted");
  static_assert(!is_metric || !adds || !merges,
                "a metric lacks value() const or a name, or it cannot be copied");
  static_assert(
      !CountsEvaluations<T> || !requires(T & metric, ProblemType type) { metric.counts(type); } ||
          metrics::ChoosesProblemTypes<T>,
      "a metric's counts(ProblemType) must be const and return a bool");
  static_assert(is_metric || Observer<T> || CountsEvaluations<T>,
                "an observer hears nothing: it needs on(const train::StepEnd&) or the like");
  static_assert(Observer<P> || CountsEvaluations<P> || !Observer<T>,
                "an observer is const, but its on(event) is not");
  static_assert(
      !requires(T & observer) { observer.should_stop(); } ||
          requires(const T& observer) {
            { observer.should_stop() } -> std::same_as<bool>;
          },
      "an observer's should_stop() must be const and return a bool");
}

/// Fails to compile unless the model can be evaluated on the loader.
template <class M, class D>
consteval void check_dev_loader() {
  using T = std::remove_const_t<D>;
  static_assert(
      Loader<T>,
      "the dev loader lacks a batch_type, epoch(number), batches_in(epoch) or examples()");
  static_assert(LoaderFor<T, M>, "the dev loader yields another batch_type than the model takes");
  static_assert(!std::is_const_v<D>, "the dev loader must not be const");
  static_assert(Evaluable<M>,
                "the model cannot be evaluated: it needs logits(batch) and an output_type, or "
                "losses(batch) that returns metrics::RowLosses, or evaluate(batch)");
}

/// Fails to compile if a metric cannot count the model's answers.
template <class M, class P>
consteval void check_metric() {
  constexpr bool is_metric = CountsEvaluations<P>;
  static_assert(Classifier<M> || !is_metric,
                "a metric counts labels or targets, but the model is evaluated by its loss");
  static_assert(
      !is_metric || metrics::CountsLabels<std::remove_const_t<P>> ||
          requires(const M& m) { m.problem_type(); },
      "a metric counts targets, but the model has no problem_type(), so its examples have labels");
}

/// Fails to compile unless the types are arguments of `evaluate`, references or not.
template <class M, class D, class... Parts>
consteval void check_evaluation() {
  check_dev_loader<M, std::remove_reference_t<D>>();
  (check_metric<M, std::remove_reference_t<Parts>>(), ...);
  (check_observer<std::remove_reference_t<Parts>>(), ...);
}

/// Fails to compile unless the type is an argument of `fit`.
template <class M, class P>
consteval void check_part() {
  using T = std::remove_const_t<P>;
  if constexpr (LoaderLike<T>) {
    check_dev_loader<M, P>();
  } else if constexpr (std::same_as<T, BestModel>) {
    static_assert(Restorable<M>,
                  "BestModel keeps the best parameters, but the model has no state_dict and "
                  "load_state_dict");
    static_assert(!std::is_const_v<P>, "BestModel must not be const");
  } else if constexpr (Checkpointer<T>) {
    static_assert(Checkpointer<P>, "a checkpointer must not be const");
  } else {
    check_metric<M, P>();
    check_observer<P>();
  }
}

/// Fails to compile unless the types are arguments of `fit`, references or not.
template <class M, class O, class... Parts>
consteval void check_parts() {
  (check_part<M, std::remove_reference_t<Parts>>(), ...);
  static_assert((0 + ... + (LoaderLike<std::remove_cvref_t<Parts>> ? 1 : 0)) <= 1,
                "fit takes one dev loader");
  static_assert(
      Checkpointable<M, O> || !(Checkpointer<std::remove_cvref_t<Parts>> || ...),
      "a checkpointer saves checkpoints, but the model or the optimizer has no state_dict and "
      "load_state_dict, state and load_state for that");
}

}  // namespace seqtrain::train
