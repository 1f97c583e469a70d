#pragma once

#include <concepts>

#include <seqtrain/concepts.hpp>

namespace seqtrain::train {

/// Whether four policies make a `Trainer`. Where they do not, compilation ends with one plain
/// sentence that says which of them lacks what; the pages in docs/concepts tell the whole contract.
template <class M>
consteval void check_model() {
  static_assert(std::movable<M>, "the model cannot be moved into the Trainer");
  static_assert(
      requires {
        typename M::batch_type;
        typename M::loss_type;
        typename M::parameter_type;
        typename M::output_type;
      },
      "the model does not name its batch_type, loss_type, parameter_type and output_type");
  static_assert(
      requires(M & m, const typename M::batch_type& b) {
        { m.accumulate(b, 1.0) } -> std::same_as<typename M::loss_type>;
      },
      "the model has no accumulate(batch, weight) that returns its loss_type");
  static_assert(
      requires(M & m, const typename M::batch_type& b) {
        { m.logits(b) } -> std::same_as<typename M::output_type>;
      },
      "the model has no logits(batch) that returns its output_type");
  static_assert(Model<M>, "the model does not satisfy seqtrain::Model");
}

template <class M, class O>
consteval void check_optimizer() {
  static_assert(
      requires { typename O::parameter_type; }, "the optimizer does not name its parameter_type");
  static_assert(Optimizer<O>,
                "the optimizer lacks step(parameters, optim::Step) or learning_rate()");
  static_assert(OptimizerFor<O, M>,
                "the optimizer steps another parameter_type than the model has");
}

template <class M, class L>
consteval void check_loader() {
  static_assert(
      requires(L & l) { l.epoch(0); }, "the loader has no epoch(number) that gives batches");
  static_assert(Loader<L>, "the loader lacks a batch_type, batches_in(epoch) or examples()");
  static_assert(LoaderFor<L, M>, "the loader yields another batch_type than the model takes");
}

template <class M, class O, class L, class S>
consteval bool fits() {
  check_model<M>();
  check_optimizer<M, O>();
  check_loader<M, L>();
  static_assert(Sink<S>, "the sink lacks put(key, bytes), put_file(key, file) or flush()");
  return Trainable<M, O, L, S>;
}

}  // namespace seqtrain::train
