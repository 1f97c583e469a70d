#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linear.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/model/cpu/word_loss.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/fresh_parameters.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// Options of `LanguageModel`.
struct LanguageModelOptions {
  AwdLstmShape shape = {};
  AwdLstmDropout dropout = {};
  double alpha = 2;  ///< factor of the mean square of the decoder's input
  double beta = 1;   ///< factor of the mean square of the hidden states' changes
  std::int64_t padding_id = 1;
  std::uint64_t seed = 0;
  c10::Device device = c10::Device{c10::kCPU};
  RecurrentBackend backend = {};
};

/// An AWD-LSTM that predicts the next word: a `seqtrain::LanguageModel`, which `evaluate` scores by
/// its perplexity. The decoder shares the embedding's weights. In training each batch of an epoch
/// continues the state of the batch before, without gradients; the state is a part of the
/// state_dict. A row whose state is not finite starts again from zero. Dropout is a pure function
/// of the seed and the batch's epoch and index.
class LanguageModel {
 public:
  using batch_type = data::LanguageBatch;
  using parameter_type = tensor::Parameter;
  using loss_type = MeanLoss;

  /// Makes a model with random weights. Throws `InputError` if an option is out of range.
  explicit LanguageModel(std::int64_t vocab_size, const LanguageModelOptions& options = {})
      : LanguageModel{vocab_size, options, FreshParameters{options.seed, options.device}} {}

  LanguageModel(LanguageModel&&) noexcept = default;
  LanguageModel& operator=(LanguageModel&&) noexcept = default;
  LanguageModel(const LanguageModel&) = delete;  // tensors are handles: a copy shares its weights
  LanguageModel& operator=(const LanguageModel&) = delete;
  ~LanguageModel() = default;

  /// Adds weight · d(mean cross-entropy + regularisation)/dp to the gradients; returns the
  /// cross-entropy.
  MeanLoss accumulate(const data::LanguageBatch& batch, double weight) {
    check(batch);
    detail::check_below(batch.labels, encoder_.vocab_size(), "labels", "words");
    const at::AutoGradMode with_gradients{true};
    Dropout dropout{dropout_stream(options_.seed, batch).at(0), options_.device};
    const at::Tensor raw = encoder_(ids(batch), begin_of(batch, trained_), dropout);
    const at::Tensor read = AwdLstm::shared_over_time(raw, encoder_.dropout().output, dropout);
    const at::Tensor loss = cross_entropy(batch, read);
    const at::Tensor total = loss.add(regularisation(raw, read));
    total.backward(at::full_like(total, weight));
    return MeanLoss{loss.detach()};
  }

  /// Returns the mean cross-entropy of a batch, without dropout and gradients. Evaluation has its
  /// own state, which each batch continues.
  double evaluate(const data::LanguageBatch& batch) {
    check(batch);
    detail::check_below(batch.labels, encoder_.vocab_size(), "labels", "words");
    const at::NoGradGuard no_gradients;
    Dropout off;
    return cross_entropy(batch, encoder_(ids(batch), begin_of(batch, evaluated_), off))
        .item<double>();
  }

  /// Returns the weight of a batch in a mean over several batches: its number of words. With these
  /// weights, gradients of the cross-entropy that are accumulated over several batches equal the
  /// gradients of one batch with all words.
  [[nodiscard]] double weight_of(const data::LanguageBatch& batch) const {
    return static_cast<double>(batch.labels.size());
  }

  [[nodiscard]] std::span<const tensor::Parameter> parameters() const& { return parameters_; }
  /// A temporary model would take its parameters with it.
  void parameters() const&& = delete;
  [[nodiscard]] std::int64_t vocab_size() const { return encoder_.vocab_size(); }
  [[nodiscard]] const AwdLstm& encoder() const { return encoder_; }

  /// Returns the layers from the input to the output, then the embedding, which is the decoder too.
  [[nodiscard]] LayerGroups groups() const {
    LayerGroups groups{encoder_.groups().begin() + 1, encoder_.groups().end()};
    groups.push_back({"0.encoder.weight", "1.decoder.bias"});
    return groups;
  }

  /// Freezes all but the last `count` groups.
  void train_last(std::size_t count) { train_last_groups(parameters_, groups(), count); }

  /// Returns the parameters and, inside an epoch, the state of the layers.
  [[nodiscard]] tensor::StateDict state_dict() const {
    tensor::StateDict state{parameters_};
    for (std::size_t i = 0; i < trained_.state.layers.size(); ++i) {
      state.add(carried(i) + "h", trained_.state.layers[i].h);
      state.add(carried(i) + "c", trained_.state.layers[i].c);
    }
    if (!trained_.state.layers.empty()) {
      const at::Tensor next = at::empty({2}, at::kFloat);
      next.mutable_data_ptr<float>()[0] = static_cast<float>(trained_.epoch);
      next.mutable_data_ptr<float>()[1] = static_cast<float>(trained_.next);
      state.add("carried.next", next);
    }
    return state;
  }

  /// Copies the values of `state_dict().views()`. Throws `InputError` if names or shapes do not
  /// fit; some parameters may then have changed.
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    tensor::SavedTensors saved{tensors};
    for (const auto& parameter : parameters_) saved.take(parameter.name, parameter.value);
    trained_ = saved.has("carried.next") ? load_carried(tensors, saved) : Carried{};
    saved.check_all_taken();
  }

 private:
  /// The state after a batch, for the batch that follows it.
  struct Carried {
    std::int64_t epoch = 0;
    std::int64_t next = -1;
    RecurrentState state = {};
  };

  LanguageModel(std::int64_t vocab_size, const LanguageModelOptions& options, FreshParameters make)
      : options_{options},
        encoder_{
            make,           "0.", vocab_size, options.padding_id, options.shape, options.dropout,
            options.backend},
        bias_{make.constant("1.decoder.bias", {vocab_size}, 0)},
        parameters_{make.parameters()} {
    if (encoder_.by_hand()) loss_ = cpu::make_word_loss(*encoder_.by_hand());
  }

  void check(const data::LanguageBatch& batch) const {
    const auto cells = static_cast<std::size_t>(batch.rows * batch.width);
    if (batch.rows < 1 || batch.width < 1 || batch.input_ids.size() != cells ||
        batch.labels.size() != cells) {
      throw InputError{"its sizes do not fit together", {.object = "batch"}};
    }
    detail::check_below(batch.input_ids, encoder_.vocab_size(), "input_ids", "words");
  }

  /// Copies words to the device. The copy comes from pinned memory, so the call does not wait.
  template <class T>
  [[nodiscard]] at::Tensor sent(const std::vector<T>& words) const {
    const auto type = at::dtype<T>().pinned_memory(!options_.device.is_cpu());
    const at::Tensor host = at::empty({std::ssize(words)}, type);
    std::ranges::copy(words, host.mutable_data_ptr<T>());
    return host.to(options_.device, /*non_blocking=*/true);
  }

  /// Returns the ids of a batch on the device, int32 [rows, width].
  [[nodiscard]] at::Tensor ids(const data::LanguageBatch& batch) const {
    return sent(batch.input_ids).view({batch.rows, batch.width});
  }

  /// Returns the state at the beginning of a batch. The batch turns it into the state for the next
  /// one.
  RecurrentState& begin_of(const data::LanguageBatch& batch, Carried& carried) const {
    const bool follows = carried.epoch == batch.epoch && carried.next == batch.index &&
                         batch.index > 0 && carried.state.rows() == batch.rows;
    if (follows) {
      carried.state.clear_broken_rows();
    } else {
      carried.state = encoder_.zero_state(batch.rows);
    }
    carried.epoch = batch.epoch;
    carried.next = batch.index + 1;
    return carried.state;
  }

  /// Returns logits [..., vocab_size] for hidden states [..., embedding].
  [[nodiscard]] at::Tensor decode(const at::Tensor& hidden) const {
    return at::linear(hidden, encoder_.embedding(), bias_);
  }

  [[nodiscard]] at::Tensor cross_entropy(const data::LanguageBatch& batch,
                                         const at::Tensor& read) const {
    const at::Tensor words = read.flatten(0, 1);
    if (loss_) return (*loss_)(words, encoder_.embedding(), bias_, std::span{batch.labels});
    return at::cross_entropy_loss(decode(words), sent(batch.labels));
  }

  /// Returns the regularization of Merity et al. 2017, section 4.3. `raw` is the last layer's
  /// output before dropout; `read` is the decoder's input.
  [[nodiscard]] at::Tensor regularisation(const at::Tensor& raw, const at::Tensor& read) const {
    const at::Tensor activation = read.square().mean().mul(options_.alpha);
    if (raw.size(1) < 2) return activation;
    const at::Tensor change = raw.slice(1, 1).sub(raw.slice(1, 0, -1));
    return activation.add(change.square().mean().mul(options_.beta));
  }

  static std::string carried(std::size_t layer) { return "carried." + std::to_string(layer) + "."; }

  [[nodiscard]] Carried load_carried(std::span<const weights::TensorView> tensors,
                                     tensor::SavedTensors& saved) const {
    const at::Tensor next = at::empty({2}, at::kFloat);
    saved.take("carried.next", next);
    std::int64_t rows = 0;
    for (const auto& tensor : tensors) {
      if (tensor.name == "carried.0.h" && !tensor.shape.empty()) rows = tensor.shape[0];
    }
    Carried result{.epoch = std::llround(next.const_data_ptr<float>()[0]),
                   .next = std::llround(next.const_data_ptr<float>()[1]),
                   .state = encoder_.zero_state(rows)};
    for (std::size_t i = 0; i < result.state.layers.size(); ++i) {
      saved.take(carried(i) + "h", result.state.layers[i].h);
      saved.take(carried(i) + "c", result.state.layers[i].c);
    }
    return result;
  }

  LanguageModelOptions options_;
  AwdLstm encoder_;
  at::Tensor bias_;                      // [vocab_size]
  std::unique_ptr<cpu::WordLoss> loss_;  // the hand-written passes, if there are any
  std::vector<tensor::Parameter> parameters_;
  Carried trained_;
  Carried evaluated_;
};

}  // namespace seqtrain::model
