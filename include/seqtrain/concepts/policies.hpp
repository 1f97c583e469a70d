#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::optim {

/// The arguments of an optimizer's step.
struct Step {
  double lr_scale = 1;  ///< the schedule's factor on the learning rate
  /// Gradients are scaled down so that their common 2-norm is at most this.
  double max_grad_norm = std::numeric_limits<double>::infinity();
  std::optional<double> momentum = {};  ///< replaces Adam's beta1 in this step
};

/// The outcome of an optimizer step. A step is not taken if a gradient is not finite: the
/// parameters and the optimizer's state stay as they are, and the gradients become zero. If only a
/// device knows the outcome, `problem` waits for it.
class Outcome {
 public:
  /// Makes the outcome of a step that was taken.
  Outcome() = default;

  /// Makes the outcome of a step that was not taken. `problem` names the gradient.
  static Outcome not_taken(std::string problem) {
    Outcome outcome;
    outcome.problem_ = std::move(problem);
    return outcome;
  }

  /// Makes the outcome of a step on a device. `ask` waits for the device and returns the problem,
  /// or an empty string if there is none. `is_there` tells whether it need not wait.
  static Outcome on_device(
      std::function<std::string()> ask, std::function<bool()> is_there = [] { return false; }) {
    Outcome outcome;
    outcome.ask_ = std::move(ask);
    outcome.is_there_ = std::move(is_there);
    return outcome;
  }

  /// Adds the common 2-norm of the step's gradients before they were clipped. `norm` returns it,
  /// and may wait for a device.
  Outcome with_gradient_norm(std::function<double()> norm) && {
    gradient_norm_ = std::move(norm);
    return std::move(*this);
  }

  /// Adds the loss scale by which the optimizer divided the gradients. `scale` returns it once
  /// `problem` is known.
  Outcome with_loss_scale(std::function<double()> scale) && {
    loss_scale_ = std::move(scale);
    return std::move(*this);
  }

  /// Tells whether `problem` returns without waiting.
  [[nodiscard]] bool known() const { return !ask_ || is_there_(); }

  /// Returns the reason why the step was not taken, or an empty string if it was.
  [[nodiscard]] const std::string& problem() {
    if (ask_) problem_ = std::exchange(ask_, {})();
    return problem_;
  }

  [[nodiscard]] bool has_loss_scale() const { return static_cast<bool>(loss_scale_); }

  /// Returns the loss scale of the gradients, or nothing if they have none. Call it after
  /// `problem`.
  [[nodiscard]] std::optional<double> loss_scale() const {
    return loss_scale_ ? std::optional{loss_scale_()} : std::nullopt;
  }

  /// Returns a function that returns the common 2-norm of the step's gradients before clipping, or
  /// NaN if the optimizer does not compute it. The function may wait for a device.
  [[nodiscard]] const std::function<double()>& gradient_norm() const { return gradient_norm_; }

 private:
  std::string problem_;
  std::function<std::string()> ask_;
  std::function<bool()> is_there_;
  std::function<double()> loss_scale_;
  std::function<double()> gradient_norm_ = [] { return std::numeric_limits<double>::quiet_NaN(); };
};

}  // namespace seqtrain::optim

namespace seqtrain::sink {

/// An object of a store. The generation identifies one version of its content and is never 0.
struct Stored {
  std::string bytes;
  std::int64_t generation = 0;
};

}  // namespace seqtrain::sink

namespace seqtrain {

/// A model that `Trainer::fit` trains. `accumulate` adds weight · d(mean loss of the batch)/dp to
/// the gradient of every trained parameter p and returns the mean loss, which may stay on a device
/// until it is converted to a number. The model may compute gradients in any way. `parameters` are
/// in state_dict order.
template <class M>
concept Model = std::movable<M> && std::movable<typename M::loss_type> &&
    requires(M& model, const typename M::batch_type& batch, const typename M::loss_type& loss,
             double weight) {
  typename M::parameter_type;
  { model.accumulate(batch, weight) } -> std::same_as<typename M::loss_type>;
  {static_cast<double>(loss)};
  { model.parameters() } -> std::convertible_to<std::span<const typename M::parameter_type>>;
};

/// A classifier, which `evaluate` scores by its answers. `logits` runs without gradients and
/// dropout.
template <class M>
concept Classifier = Model<M> && requires(M& model, const typename M::batch_type& batch) {
  typename M::output_type;
  { model.logits(batch) } -> std::same_as<typename M::output_type>;
  { batch.labels } -> std::ranges::sized_range;
};

/// A language model, which `evaluate` scores by its loss: the member `evaluate` returns the mean
/// loss of a batch without gradients and dropout.
template <class M>
concept LanguageModel = Model<M> && requires(M& model, const typename M::batch_type& batch) {
  { model.evaluate(batch) } -> std::convertible_to<double>;
};

/// A model that `evaluate` scores by its loss alone: `losses` returns the loss of each row of a
/// batch without gradients and dropout, a `metrics::RowLosses`. It needs no labels and gives no
/// predictions.
template <class M>
concept ScoredByLoss = Model<M> && requires(M& model, const typename M::batch_type& batch) {
  { model.losses(batch).losses } -> std::ranges::sized_range;
  { model.losses(batch).weights } -> std::ranges::sized_range;
};

/// A model that `evaluate` can score. One that is several of these is a `Classifier`.
template <class M>
concept Evaluable = Classifier<M> || LanguageModel<M> || ScoredByLoss<M>;

/// A rule that changes parameters. `step` clips the gradients if asked to, applies them and sets
/// them to zero for the next step; it may return an `optim::Outcome`, which tells whether the step
/// was taken. `learning_rate()` returns the rate that the schedule scales.
template <class O>
concept Optimizer = std::movable<O> &&
    requires(O& optimizer, std::span<const typename O::parameter_type> parameters,
             optim::Step step) {
  optimizer.step(parameters, step);
  { optimizer.learning_rate() } -> std::convertible_to<double>;
};

/// The examples that a loader yields and a model takes at once. `rows` is the number of examples,
/// and `tokens()` is their number of tokens without padding.
template <class B>
concept Batch = std::copyable<B> && requires(const B& batch) {
  { batch.rows } -> std::convertible_to<std::int64_t>;
  { batch.tokens() } -> std::convertible_to<std::int64_t>;
};

/// A source of batches. An epoch number always gives the same batches in the same order. A loader
/// may also have `epoch(epoch, first)`, so that a resumed run need not make the earlier batches.
template <class L>
concept Loader = std::movable<L> && requires(L& loader, std::int64_t epoch) {
  requires Batch<typename L::batch_type>;
  { loader.epoch(epoch) } -> std::ranges::input_range;
  { loader.batches_in(epoch) } -> std::convertible_to<std::int64_t>;
  { loader.examples() } -> std::convertible_to<std::int64_t>;
};

/// A place that takes a run's results and, if it is a `Store`, its checkpoints. Keys are relative
/// paths with `/`.
template <class S>
concept Sink = std::movable<S> &&
    requires(S& sink, std::string_view key, std::span<const std::byte> bytes,
             const std::filesystem::path& file) {
  sink.put(key, bytes);      // the object appears whole or not at all
  sink.put_file(key, file);  // as `put`, for a large file
  sink.flush();              // returns when all of it is durable
};

/// A sink that can also be read. A key names exactly one object.
template <class S>
concept Store = Sink<S> &&
    requires(S& store, std::string_view key, std::span<const std::byte> bytes,
             const std::filesystem::path& file, std::int64_t generation) {
  // The name of the place in messages: a path or a gs:// address.
  { store.name() } -> std::convertible_to<std::string>;
  // The full keys of all objects inside that directory, at any depth, sorted; "" is the store.
  { store.list(key) } -> std::same_as<std::vector<std::string>>;
  // The object, or nothing if there is none.
  { store.get(key) } -> std::same_as<std::optional<sink::Stored>>;
  // Writes the object to a verified file, whole or not at all; false if there is no object.
  { store.get_file(key, file) } -> std::same_as<bool>;
  // Writes only if the object has that generation; 0 means that there is no object yet. Returns the
  // new generation, or nothing if it did not write.
  { store.put_if(key, bytes, generation) } -> std::same_as<std::optional<std::int64_t>>;
  // Does nothing if there is no such object.
  store.remove(key);
};

/// An optimizer that steps the parameters of model M.
template <class O, class M>
concept OptimizerFor = Optimizer<O> && Model<M> &&
    std::same_as<typename O::parameter_type, typename M::parameter_type>;

/// A loader that yields the batches of model M.
template <class L, class M>
concept LoaderFor = Loader<L> && Model<M> &&
    std::convertible_to<const typename L::batch_type&, const typename M::batch_type&>;

/// A model that gives its tensors in host memory and can load such tensors. `load_state_dict`
/// copies them and throws `InputError` if names or shapes do not match.
template <class M>
concept Restorable = Model<M> && requires(M& model, std::span<const weights::TensorView> tensors) {
  { model.state_dict().views() } -> std::convertible_to<std::span<const weights::TensorView>>;
  model.load_state_dict(tensors);
};

/// A model and an optimizer that a checkpoint can hold. `load_state` also takes an empty state,
/// which a new optimizer may have.
template <class M, class O>
concept Checkpointable = Restorable<M> && OptimizerFor<O, M> &&
    requires(M& model, O& optimizer, std::span<const weights::TensorView> tensors) {
  { optimizer.state().views() } -> std::convertible_to<std::span<const weights::TensorView>>;
  optimizer.load_state(tensors, model.parameters());
};

/// The four policies of a `Trainer`.
template <class M, class O, class L, class S>
concept Trainable = Model<M> && OptimizerFor<O, M> && LoaderFor<L, M> && Sink<S>;

}  // namespace seqtrain
