#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/families.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/logits.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/problem_loss.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/tensor/autocast.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/weights/checkpoint.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::model {

/// A pre-trained encoder with a head for sequence classification: a `seqtrain::Model`. On the
/// processor the kernels in model/cpu/ compute the encoder if they support its shape. Otherwise,
/// and on other devices, ATen's operators and autograd do, with torch's autocast for bf16; they
/// always compute the head. Parameters have the names and the order of the state_dict of
/// transformers' BertForSequenceClassification and RobertaForSequenceClassification. Dropout is a
/// pure function of the seed and the batch's epoch and index; equal seeds and thread counts give
/// equal bits. On the processor a frozen encoder computes each row of a loader's set once and keeps
/// `hidden_size` floats of it; the bits do not change by that.
template <class Family>
class Classifier {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = Loss;

  /// Throws `InputError` if the checkpoint, its config.json and the options do not fit together.
  explicit Classifier(const weights::Checkpoint& checkpoint, const ClassifierOptions& options = {})
      : Classifier{
            checkpoint, options,
            ParameterMaker{
                checkpoint,
                {.prefix = Family::prefix, .seed = options.seed, .device = options.device}}} {}

  Classifier(Classifier&&) noexcept = default;
  Classifier& operator=(Classifier&&) noexcept = default;
  Classifier(const Classifier&) = delete;  // tensors are handles: a copy would share its weights
  Classifier& operator=(const Classifier&) = delete;
  ~Classifier() = default;

  /// Adds weight · d(mean loss)/dp to the gradients. The loss is `ProblemLoss`. Throws `Error` with
  /// the batch's size if there is too little memory for it.
  Loss accumulate(const data::Batch& batch, double weight) {
    return accumulate(batch, weight, [](std::size_t) {});
  }

  /// Calls `ready(i)` when the gradients of the parameters from number i on are complete, while
  /// those of earlier layers are still computed.
  Loss accumulate(const data::Batch& batch, double weight,
                  const std::function<void(std::size_t)>& ready) {
    check_ids(batch, config_, max_length());
    check_labels(batch, config_);
    return within_memory(batch, [&] { return add_gradients(batch, weight, ready); });
  }

  /// Returns logits [rows, labels], in evaluation mode. Throws as `accumulate` does.
  metrics::Logits logits(const data::Batch& batch) {
    check_ids(batch, config_, max_length());
    return within_memory(batch, [&] { return compute_logits(batch); });
  }

  /// Returns the weight of a batch in a mean over several batches: the sum of its rows' label
  /// weights. With it accumulated gradients equal the gradients of one batch of all rows.
  [[nodiscard]] double weight_of(const data::Batch& batch) const {
    check_labels(batch, config_);
    return loss_.weight_of(batch);
  }

  /// Replaces `ClassifierOptions::class_weights`.
  void set_class_weights(std::vector<double> weights) {
    loss_.set_class_weights(std::move(weights), config_.num_labels(), device_);
  }

  [[nodiscard]] ProblemType problem_type() const { return loss_.type(); }

  /// Returns the precision of the encoder's products.
  [[nodiscard]] Precision precision() const { return precision_; }

  [[nodiscard]] std::span<const tensor::Parameter> parameters() const { return parameters_; }
  [[nodiscard]] tensor::StateDict state_dict() const { return tensor::StateDict{parameters_}; }

  /// Copies the values of `state_dict().views()`. Throws `InputError` if names or shapes do not
  /// fit; some parameters may then have changed.
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    tensor::SavedTensors saved{tensors};
    for (const auto& parameter : parameters_) saved.take(parameter.name, parameter.value);
    saved.check_all_taken();
  }

  [[nodiscard]] const weights::ModelConfig& config() const { return config_; }
  [[nodiscard]] const LoadReport& load_report() const { return report_; }

  /// Returns the number of tokens that a row may have, including special tokens.
  [[nodiscard]] std::int64_t max_length() const { return Family::Embeddings::max_length(config_); }

  /// See `cpu::AnyEncoder::maps_in_bf16`.
  [[nodiscard]] std::size_t maps_in_bf16() const { return cpu_encoder_.maps_in_bf16(); }

  /// Writes config.json and model.safetensors as `from_pretrained` reads them.
  void save_pretrained(const std::filesystem::path& directory) const {
    std::filesystem::create_directories(directory);
    weights::write_config(directory / "config.json", config_text_, config_.labels, problem_type());
    weights::write_safetensors(directory / "model.safetensors", state_dict().views());
  }

 private:
  Classifier(const weights::Checkpoint& checkpoint, const ClassifierOptions& options,
             ParameterMaker maker)
      : config_text_{MappedFile{checkpoint.config_file()}.text()},
        config_{configure(weights::parse_config(config_text_, checkpoint.config_file().string()),
                          options, Family::model_type)},
        seed_{options.seed},
        device_{options.device},
        precision_{resolve(options.precision, options.device)},
        encoder_frozen_{options.freeze_encoder || options.only_predicts},
        only_predicts_{options.only_predicts},
        encoder_{Scope{maker, std::string{Family::model_type}, encoder_part()}, config_},
        head_{Scope{maker, "", {.initializer_range = config_.initializer_range}}, config_},
        parameters_{maker.parameters()},
        report_{maker.report()},
        loss_{config_.problem(), options.label_smoothing} {
    set_class_weights(options.class_weights);
    if (options.device.is_cpu() && !options.autograd) {
      cpu_encoder_ = {parameters_, Family::prefix,       config_, Family::positions_behind_padding,
                      precision_,  options.only_predicts};
    }
    if (precision_ == Precision::int8 && !cpu_encoder_) {
      throw InputError{"int8 is computed on a processor, for hidden sizes that are multiples of 64",
                       {.object = "precision"},
                       "use fp32, bf16 or auto"};
    }
  }

  Loss add_gradients(const data::Batch& batch, double weight,
                     const std::function<void(std::size_t)>& ready) {
    if (only_predicts_) throw Error{"the model was loaded for predictions only"};
    const at::AutoGradMode with_gradients{true};
    const random::Stream stream = dropout_stream(seed_, batch);
    Dropout dropout{stream.at(0), device_};
    const auto input = tensor::to_device(batch, device_);
    const at::Tensor first =
        cpu_encoder_ ? first_token_by_kernels(batch, stream) : first_token(input, dropout);
    const at::Tensor loss = [&] {
      const auto one_thread = alone();
      const at::Tensor result = loss_(head(first, dropout), input);
      result.backward(at::full_like(result, weight));
      return result;
    }();
    if (cpu_encoder_ && !encoder_frozen_) {
      cpu_encoder_.backward(first.grad(), [&](std::size_t layer) { ready(first_of_layer(layer)); });
    }
    return Loss{loss.detach()};
  }

  metrics::Logits compute_logits(const data::Batch& batch) {
    const at::NoGradGuard no_gradients;
    Dropout off;
    if (!cpu_encoder_) {
      return to_host(head(first_token(tensor::to_device(batch, device_), off), off));
    }
    const at::Tensor first = evaluated_first_token(batch);
    const auto one_thread = alone();
    return to_host(head_in_blocks(first));
  }

  /// Returns logits of hidden states [rows, hidden]. A row's bits do not depend on the other rows:
  /// the operators always get the same number of rows, because their results depend on it.
  [[nodiscard]] at::Tensor head_in_blocks(const at::Tensor& first) const {
    constexpr std::int64_t block = 8;
    Dropout off;
    std::vector<at::Tensor> logits;
    for (std::int64_t row = 0; row < first.size(0); row += block) {
      const std::int64_t count = std::min(block, first.size(0) - row);
      const at::Tensor part = at::zeros({block, first.size(1)}, at::kFloat);
      part.narrow(0, 0, count).copy_(first.narrow(0, row, count));
      logits.push_back(head(part, off).narrow(0, 0, count));
    }
    return at::cat(logits);
  }

  /// Returns the number of a layer's first parameter.
  [[nodiscard]] std::size_t first_of_layer(std::size_t layer) const {
    const std::string name = std::string{Family::prefix} + "encoder.layer." + std::to_string(layer);
    const auto first = std::ranges::find_if(parameters_, [&](const tensor::Parameter& parameter) {
      return parameter.name.starts_with(name + ".");
    });
    return static_cast<std::size_t>(first - parameters_.begin());
  }

  [[nodiscard]] Part encoder_part() const { return {.required = true, .frozen = encoder_frozen_}; }

  /// Returns the hidden state of each row's first token [rows, hidden]. It is a leaf, whose
  /// gradient the kernels take.
  at::Tensor first_token_by_kernels(const data::Batch& batch, const random::Stream& stream) {
    if (encoder_frozen_) return evaluated_first_token(batch);
    return cpu_encoder_.forward(batch, stream).set_requires_grad(true);
  }

  /// Returns the hidden state of each row's first token in evaluation mode. For a frozen encoder it
  /// may be one that was computed before.
  at::Tensor evaluated_first_token(const data::Batch& batch) {
    if (!encoder_frozen_) return cpu_encoder_.forward(batch, {});
    const auto numbers = [](const at::Tensor& first) {
      return std::span{first.mutable_data_ptr<float>(), static_cast<std::size_t>(first.numel())};
    };
    at::Tensor first = at::empty({batch.rows, config_.hidden_size}, at::kFloat);
    forget_first_tokens_of_other_weights();
    if (first_tokens_.find(batch, numbers(first))) return first;
    first = cpu_encoder_.forward(batch, {});
    first_tokens_.keep(batch, numbers(first));
    return first;
  }

  void forget_first_tokens_of_other_weights() {
    std::int64_t changes = 0;
    for (const auto& parameter : parameters_) {
      if (!parameter.gradient.defined()) changes += tensor::changes_of(parameter.value);
    }
    if (std::exchange(frozen_changes_, changes) != changes) first_tokens_.clear();
  }

  /// Returns the hidden state of each row's first token [rows, hidden].
  at::Tensor first_token(const tensor::Batch& batch, Dropout& dropout) const {
    const auto narrow = autocast();
    if (!encoder_frozen_) return encoder_(batch, dropout).select(1, 0);
    const at::NoGradGuard no_gradients;
    Dropout off;
    return encoder_(batch, off).select(1, 0);
  }

  /// Returns logits [rows, labels] in fp32 for hidden states [rows, hidden].
  at::Tensor head(const at::Tensor& first, Dropout& dropout) const {
    const auto narrow = autocast();
    return head_(first, dropout).to(at::kFloat);
  }

  /// Turns on autocast if ATen's operators compute the encoder in bf16. With the kernels the head
  /// stays in fp32.
  [[nodiscard]] std::optional<tensor::Autocast> autocast() const {
    if (cpu_encoder_ || precision_ != Precision::bf16) return {};
    return std::optional<tensor::Autocast>{std::in_place, device_.type()};
  }

  /// Lets the head run on one thread beside the kernels' threads.
  [[nodiscard]] std::optional<tensor::OneThread> alone() const {
    if (!cpu_encoder_) return {};
    return std::optional<tensor::OneThread>{std::in_place};
  }

  std::string config_text_;  // of the checkpoint's config.json
  weights::ModelConfig config_;
  std::uint64_t seed_;
  c10::Device device_;
  Precision precision_;
  bool encoder_frozen_;
  bool only_predicts_;
  Encoder<typename Family::Embeddings> encoder_;
  typename Family::Head head_;
  std::vector<tensor::Parameter> parameters_;
  LoadReport report_;
  ProblemLoss loss_;
  cpu::AnyEncoder cpu_encoder_;
  RowCache first_tokens_;            // of a frozen encoder
  std::int64_t frozen_changes_ = 0;  // of its parameters, that first_tokens_ include
};

using BertClassifier = Classifier<Bert>;
using RobertaClassifier = Classifier<Roberta>;

}  // namespace seqtrain::model
