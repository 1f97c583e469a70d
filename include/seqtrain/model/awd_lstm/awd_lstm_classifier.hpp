#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/pooling_head.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/logits.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/make_loss.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/fresh_parameters.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// The factors of the regularization of hidden states.
struct RegularizationOptions {
  double alpha = 2;        ///< factor of the mean square of the hidden states
  double beta = 1;         ///< factor of the mean square of their changes from step to step
  std::int64_t bptt = 72;  ///< words of a chunk
};

/// Adds to `gradient` the gradient of the regularization of Merity et al. 2017, section 4.3, with
/// respect to a classifier's hidden states, both [rows, width, size], for rows of `lengths` [rows]
/// words. As in fastai, whole chunks of padding count as zeros before a row's first word. The rest
/// of the padding counts as words after the last one.
inline void add_regularization_gradient(const at::Tensor& gradient, const at::Tensor& hidden,
                                        const at::Tensor& lengths,
                                        const RegularizationOptions& options) {
  const std::int64_t width = hidden.size(1);
  const at::Tensor own = lengths.to(at::kLong).view({-1, 1, 1});
  const at::Tensor padding = own.neg().add(width);
  const at::Tensor end = own.add(padding.remainder(options.bptt));
  const at::Tensor counted = at::arange(width, end.options()).view({1, -1, 1}).lt(end);
  if (options.alpha != 0) {
    gradient.add_(hidden.mul(counted), 2 * options.alpha / static_cast<double>(hidden.numel()));
  }
  if (options.beta == 0 || width < 2) return;
  const auto changes = static_cast<double>(hidden.size(0) * (width - 1) * hidden.size(2));
  const double factor = 2 * options.beta / changes;
  const at::Tensor change =
      hidden.slice(1, 1).sub(hidden.slice(1, 0, -1)).mul_(counted.slice(1, 1));
  gradient.slice(1, 1).add_(change, factor);
  gradient.slice(1, 0, -1).sub_(change, factor);
  const at::Tensor follows_zeros = padding.ge(options.bptt);
  gradient.slice(1, 0, 1).add_(hidden.slice(1, 0, 1).mul(follows_zeros), factor);
}

/// Options of `AwdLstmClassifier`.
struct AwdLstmClassifierOptions {
  std::vector<std::string> labels = {};  ///< names, by label id
  ProblemType problem_type = ProblemType::single_label;
  AwdLstmShape shape = {};
  AwdLstmDropout dropout = AwdLstmDropout::classifier();
  std::int64_t head_hidden = 50;
  double head_dropout = 0.1;
  double alpha = 2;        ///< factor of the mean square of the hidden states
  double beta = 1;         ///< factor of the mean square of the hidden states' changes
  std::int64_t bptt = 70;  ///< words of a chunk; gradients stop at its start
  std::int64_t padding_id = 1;
  std::uint64_t seed = 0;
  c10::Device device = c10::Device{c10::kCPU};
  RecurrentBackend backend = {};

  void validate() const {
    const Demand demand{"classifier"};
    demand(allows_labels(problem_type, labels.size()), "labels", "must be two or more");
    demand(head_hidden >= 1 && head_hidden <= 65'536, "head_hidden", "must be 1 to 65536");
    demand(head_dropout >= 0 && head_dropout < 1, "head_dropout", "must be at least 0, below 1");
    demand(std::isfinite(alpha) && alpha >= 0, "alpha", "must be a number, not negative");
    demand(std::isfinite(beta) && beta >= 0, "beta", "must be a number, not negative");
    demand(bptt >= 1, "bptt", "must be at least 1");
  }
};

/// The classifier of Howard and Ruder 2018, "Universal language model fine-tuning for text
/// classification": a `seqtrain::Model`. An AWD-LSTM reads a text in chunks. Its state continues
/// from chunk to chunk, but gradients do not pass between chunks. A head reads the pooled states of
/// all tokens. Dropout is a pure function of the seed and the batch's epoch and index.
class AwdLstmClassifier {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = MeanLoss;

  /// Makes a model with random weights. Throws `InputError` if an option is out of range.
  explicit AwdLstmClassifier(std::int64_t vocab_size, const AwdLstmClassifierOptions& options)
      : AwdLstmClassifier{vocab_size, options, FreshParameters{options.seed, options.device}} {}

  AwdLstmClassifier(AwdLstmClassifier&&) noexcept = default;
  AwdLstmClassifier& operator=(AwdLstmClassifier&&) noexcept = default;
  AwdLstmClassifier(const AwdLstmClassifier&) = delete;  // a copy would share its weights
  AwdLstmClassifier& operator=(const AwdLstmClassifier&) = delete;
  ~AwdLstmClassifier() = default;

  /// Adds weight · d(mean loss + regularization)/dp to the gradients and returns the mean loss. The
  /// regularization is `add_regularization_gradient`'s. Throws `Error`
  /// with the batch's size if there is too little memory for it.
  MeanLoss accumulate(const data::Batch& batch, double weight) {
    check(batch);
    check_labels(batch, labels(), problem_type());
    return within_memory(batch, smaller_batches, [&] { return add_gradients(batch, weight); });
  }

  /// Returns logits [rows, labels], in evaluation mode. Throws as `accumulate` does.
  metrics::Logits logits(const data::Batch& batch) {
    check(batch);
    return within_memory(batch, fewer_texts, [&] {
      const at::NoGradGuard no_gradients;
      Dropout off;
      const at::Tensor pooled = pool(tensor::to_device(batch, options_.device), off);
      const tensor::OneThread one_thread;
      return to_host(head_(pooled, false, off));
    });
  }

  /// Replaces the loss by one of your own.
  void set_loss(AnyLoss loss) { loss_ = std::move(loss); }

  [[nodiscard]] double weight_of(const data::Batch& batch) const { return loss_.weight_of(batch); }

  /// Returns the training loss of each row of a batch with these logits [rows, labels].
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits& logits,
                                          const data::Batch& batch) const {
    return loss_.rows(logits, batch);
  }

  [[nodiscard]] std::span<const tensor::Parameter> parameters() const& { return parameters_; }
  /// A temporary model would take its parameters with it.
  void parameters() const&& = delete;
  [[nodiscard]] const AwdLstmClassifierOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t vocab_size() const { return encoder_.vocab_size(); }
  [[nodiscard]] ProblemType problem_type() const { return options_.problem_type; }

  /// Returns the embedding, the layers and the head.
  [[nodiscard]] LayerGroups groups() const {
    LayerGroups groups = encoder_.groups();
    groups.push_back(head_.names());
    return groups;
  }

  /// Freezes all but the last `count` groups.
  void train_last(std::size_t count) { train_last_groups(parameters_, groups(), count); }

  /// Copies the embedding and the layers of a language model. Throws `InputError` if its sizes
  /// differ.
  void take_encoder(const LanguageModel& language_model) {
    const auto source = language_model.state_dict();
    tensor::SavedTensors saved{source.views()};
    for (const auto& parameter : parameters_) {
      if (!parameter.name.starts_with(encoder_prefix)) continue;
      saved.take("0." + parameter.name.substr(encoder_prefix.size()), parameter.value);
    }
  }

  /// Returns the parameters and the running statistics of batch normalization.
  [[nodiscard]] tensor::StateDict state_dict() const {
    tensor::StateDict state{parameters_};
    for (const auto& [name, value] : head_.buffers()) state.add(name, value);
    return state;
  }

  /// Copies the values of `state_dict().views()`. Throws `InputError` if names or shapes do not
  /// fit; some parameters may then have changed.
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    tensor::SavedTensors saved{tensors};
    for (const auto& parameter : parameters_) saved.take(parameter.name, parameter.value);
    for (const auto& [name, value] : head_.buffers()) saved.take(name, value);
    saved.check_all_taken();
  }

 private:
  static constexpr std::string_view encoder_prefix = "0.module.";

  AwdLstmClassifier(std::int64_t vocab_size, const AwdLstmClassifierOptions& options,
                    FreshParameters make)
      : options_{(options.validate(), options)},
        encoder_{make,           std::string{encoder_prefix},
                 vocab_size,     options.padding_id,
                 options.shape,  options.dropout,
                 options.backend},
        head_{make,
              {.in = 3 * options.shape.embedding,
               .hidden = options.head_hidden,
               .labels = labels(),
               .dropout_in = options.dropout.output,
               .dropout_hidden = options.head_dropout},
              options.device},
        loss_{make_loss(options.problem_type, labels())},
        parameters_{make.parameters()} {}

  [[nodiscard]] std::int64_t labels() const {
    return static_cast<std::int64_t>(options_.labels.size());
  }

  void check(const data::Batch& batch) const {
    detail::check_below(batch.input_ids, encoder_.vocab_size(), "input_ids", "words");
  }

  MeanLoss add_gradients(const data::Batch& batch, double weight) {
    const at::AutoGradMode with_gradients{true};
    Dropout dropout{dropout_stream(options_.seed, batch).at(0), options_.device};
    const auto input = tensor::to_device(batch, options_.device);
    const at::Tensor hidden = encode(input, dropout);
    at::Tensor states = hidden.detach();
    states.set_requires_grad(hidden.requires_grad());
    const at::Tensor pooled = concat_pooling(states, input.lengths);
    at::Tensor seen = pooled.detach();
    seen.set_requires_grad(pooled.requires_grad());
    const at::Tensor loss = train_head(seen, input, weight, dropout);
    if (!hidden.requires_grad()) return MeanLoss{loss.detach()};
    pooled.backward(seen.grad());
    const at::NoGradGuard no_more;
    add_regularization_gradient(
        states.mutable_grad(), hidden.detach(), input.lengths,
        {.alpha = weight * options_.alpha, .beta = weight * options_.beta, .bptt = options_.bptt});
    hidden.backward(states.grad());
    return MeanLoss{loss.detach()};
  }

  /// Adds to the gradients of the head and of `pooled`, and returns the loss. It uses one thread,
  /// because sums of torch's operators depend on the number of threads; the work is small.
  at::Tensor train_head(const at::Tensor& pooled, const tensor::Batch& batch, double weight,
                        Dropout& dropout) {
    const tensor::OneThread one_thread;
    const at::Tensor loss = loss_.mean(head_(pooled, true, dropout), batch);
    loss.backward(at::full_like(loss, weight));
    return loss;
  }

  /// Returns the head's input, the pooled hidden states [rows, 3 · embedding].
  at::Tensor pool(const tensor::Batch& batch, Dropout& dropout) {
    return concat_pooling(encode(batch, dropout), batch.lengths);
  }

  /// Returns the hidden states of the last layer, [rows, width, embedding].
  at::Tensor encode(const tensor::Batch& batch, Dropout& dropout) {
    const at::Tensor& ids = batch.input_ids;
    RecurrentState state = encoder_.zero_state(ids.size(0));
    std::vector<at::Tensor> hidden;
    for (std::int64_t begin = 0; begin < ids.size(1); begin += options_.bptt) {
      const std::int64_t width = std::min(options_.bptt, ids.size(1) - begin);
      hidden.push_back(encoder_(ids.narrow(1, begin, width), state, dropout));
    }
    return at::cat(hidden, 1);
  }

  AwdLstmClassifierOptions options_;
  AwdLstm encoder_;
  PoolingHead head_;
  AnyLoss loss_;
  std::vector<tensor::Parameter> parameters_;
};

}  // namespace seqtrain::model
