#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/logits.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/make_loss.hpp>
#include <seqtrain/model/make_passes.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/model/passes.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/model/windowed_passes.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::model {

/// A pre-trained encoder of any family with a head for sequence classification: a
/// `seqtrain::Model`. On the processor the kernels in model/cpu/ compute the encoder if they
/// support its shape, and on a GPU `packed::PackedPasses` if they support its layers.
/// Otherwise ATen's operators and autograd compute it, with torch's autocast for bf16 and fp16. The
/// operators always compute the head. In fp16 the gradients have the factor
/// `Parameter::loss_scale`. Parameters have the names of the state_dict of the family's class in
/// transformers, the encoder's before the head's. Dropout is a pure function of the seed and the
/// batch's epoch and index; equal seeds and thread counts give equal bits. A frozen encoder
/// computes each row of a loader's set once and keeps its `hidden_size` floats; the bits of results
/// stay on the processor, and everywhere if operators are deterministic. With
/// `ClassifierOptions::lora`, parameters are those of adapters and of the head.
class AnyClassifier {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = MeanLoss;

  AnyClassifier(LoadedNetwork loaded, const ClassifierOptions& options)
      : loaded_{std::move(loaded)},
        options_{options},
        precision_{resolve(options.precision, options.device)},
        loss_{loss_with(options.loss)} {
    passes_ = make_passes(loaded_, precision_, options);
    loaded_.borrowed.own();
    if (auto& windows = options_.windows) {
      windows->length = std::min(windows->length, static_cast<std::size_t>(max_length()));
      windows->validate();
      const std::size_t most = options_.most_tokens > 0 ? options_.most_tokens : 8192;
      passes_.passes = std::make_unique<WindowedPasses>(std::move(passes_.passes), *windows, most);
    }
    if (precision_ != Precision::fp16 || options.only_predicts) return;
    loss_scale_ = std::make_shared<tensor::LossScale>(options.device);
    for (auto& parameter : loaded_.parameters) parameter.loss_scale = loss_scale_;
  }

  /// Adds weight · d(mean loss)/dp to the gradients, times the loss scale in fp16. Throws `Error`
  /// with the batch's size if there is too little memory for it.
  MeanLoss accumulate(const data::Batch& batch, double weight) {
    return accumulate(batch, weight, {});
  }

  /// Calls `ready(i)`, if it is given, when the gradients of the parameters from number i on,
  /// except late ones, are complete or, on a device, queued, while those of earlier layers are
  /// computed.
  MeanLoss accumulate(const data::Batch& batch, double weight,
                      const std::function<void(std::size_t)>& ready) {
    check_ids(batch, config(), longest_row());
    check_labels(batch, config());
    return within_memory(batch, smaller_batches,
                         [&] { return add_gradients(batch, weight, ready); });
  }

  /// Returns logits [rows, labels], in evaluation mode. Sets `deciding` to the window of each row
  /// that decided, if it is given and a classifier reads windows. Throws as `accumulate` does.
  metrics::Logits logits(const data::Batch& batch,
                         std::vector<text::DecidingWindow>* deciding = nullptr) {
    check_ids(batch, config(), longest_row());
    detail::check_below(batch.adapters, adapters_ + 1, "adapters", "adapters and itself");
    const char* const advice = options_.only_predicts ? fewer_texts : smaller_batches;
    return within_memory(batch, advice, [&] {
      const at::NoGradGuard no_gradients;
      const bool decides = deciding != nullptr && problem_type() != ProblemType::regression;
      return to_host(decides ? passes_.passes->logits_by_window(batch, *deciding)
                             : passes_.passes->logits(batch));
    });
  }

  /// Returns the weight of a batch in a mean over several batches: the sum of its rows' weights in
  /// the loss. With these weights, gradients accumulated over several batches equal the gradients
  /// of one batch with all rows.
  [[nodiscard]] double weight_of(const data::Batch& batch) const {
    check_labels(batch, config());
    return loss_.weight_of(batch);
  }

  /// Returns the training loss of each row of a batch with these logits [rows, labels].
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits& logits,
                                          const data::Batch& batch) const {
    return loss_.rows(logits, batch);
  }

  /// Replaces the passes by `wrap(passes, network, parameters)`.
  template <class Wrap>
  void wrap_passes(const Wrap& wrap) {
    passes_.passes =
        wrap(std::move(passes_.passes), *loaded_.network, std::span{loaded_.parameters});
  }

  /// Replaces the loss by one of your own.
  void set_loss(AnyLoss loss) { loss_ = std::move(loss); }
  /// Replaces `ClassifierOptions::loss`.
  void set_loss(const LossOptions& options) { loss_ = loss_with(options); }

  [[nodiscard]] ProblemType problem_type() const { return config().problem(); }

  /// Returns the precision of the encoder's products.
  [[nodiscard]] Precision precision() const { return precision_; }

  /// Throws `Error` if the model was loaded for predictions only.
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const& {
    check_trainable();
    return loaded_.parameters;
  }
  /// A temporary model would take its parameters with it.
  void parameters() const&& = delete;
  /// Throws as `parameters` does.
  [[nodiscard]] tensor::StateDict state_dict() const { return tensor::StateDict{parameters()}; }

  /// Copies the values of `state_dict().views()`. Throws `InputError` if names or shapes do not
  /// fit; some parameters may then have changed. Also throws as `parameters` does.
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    tensor::SavedTensors saved{tensors};
    for (const auto& parameter : parameters()) saved.take(parameter.name, parameter.value);
    saved.check_all_taken();
  }

  [[nodiscard]] const weights::ModelConfig& config() const { return loaded_.config; }
  [[nodiscard]] const LoadReport& load_report() const { return loaded_.report; }

  /// Returns the number of tokens that the encoder reads at once, including special tokens.
  [[nodiscard]] std::int64_t max_length() const { return loaded_.max_length; }
  /// Returns the number of tokens that a row may have, which is larger if it is read in windows.
  [[nodiscard]] std::int64_t longest_row() const {
    return options_.windows ? std::int64_t{data::EncodedSet::most_ids_a_row} : max_length();
  }

  /// Returns the windows in which texts are read, if they are.
  [[nodiscard]] const std::optional<text::Windows>& windows() const { return options_.windows; }

  /// Tells whether the hand-written passes compute the encoder. If not, the bits of a row's logits
  /// depend on the other rows of its batch.
  [[nodiscard]] bool has_kernels() const { return passes_.by_hand; }

  /// Returns the number of adapters that were added.
  [[nodiscard]] std::int32_t adapters() const { return adapters_; }
  /// Adds an adapter of a model that only predicts, loaded with `ClassifierOptions::only_adapter`.
  /// Rows of batches have it by the next number from 1 on. Returns false if the passes do not
  /// compute several adapters.
  bool add_adapter(LoadedNetwork adapter) {
    adapter.borrowed.own();
    const bool added = passes_.passes->add_adapter(std::move(adapter.network), precision_);
    adapters_ += added ? 1 : 0;
    return added;
  }

  /// See `cpu::AnyEncoder::maps_in_bf16`.
  [[nodiscard]] std::size_t maps_in_bf16() const { return passes_.maps_in_bf16; }

  /// Returns the facts about its adapter. Call it only if `ClassifierOptions::lora` has a value.
  [[nodiscard]] weights::AdapterConfig adapter_config() const {
    const std::string& name = options_.base_name;
    const auto revision = name.find('@');  // of a name on the hub
    weights::AdapterConfig result{
        .lora = *options_.lora,
        .base = name.substr(0, revision),
        .revision = revision == name.npos ? "" : name.substr(revision + 1)};
    if (name.empty()) result.base = std::filesystem::absolute(loaded_.directory).string();
    result.lora.targets = loaded_.adapted;
    return result;
  }

  /// Writes config.json and model.safetensors as `from_pretrained` reads them, or PEFT's layout of
  /// an adapter, or sentence-transformers' layout. A head of the program's own is in
  /// model.safetensors by names that begin with `head.`. Throws as `parameters` does.
  void save_pretrained(const std::filesystem::path& directory) const {
    check_trainable();
    std::filesystem::create_directories(directory);
    std::string architecture{loaded_.architecture};
    if (config().sentence || options_.head)
      architecture.replace(architecture.find("For"), architecture.npos, "Model");
    weights::write_config(directory / "config.json", loaded_.config_text, architecture,
                          config().labels, problem_type());
    const auto state = state_dict();
    if (config().sentence) return save_modules(directory, state.views());
    if (options_.lora) return weights::write_adapter(directory, adapter_config(), state.views());
    weights::write_safetensors(directory / "model.safetensors", state.views());
  }

 private:
  /// Writes the parameters in sentence-transformers' layout. The last two are those of the head.
  void save_modules(const std::filesystem::path& directory,
                    std::span<const weights::TensorView> views) const {
    std::vector<weights::TensorView> encoder{views.begin(), views.end() - 2};
    for (auto& view : encoder) view.name.erase(0, loaded_.prefix.size() + 1);
    weights::write_safetensors(directory / "model.safetensors", encoder);
    weights::write_sentence_form(directory, *config().sentence, views.last(2));
  }

  [[nodiscard]] AnyLoss loss_with(const LossOptions& options) const {
    return make_loss(config().problem(), config().num_labels(), options, options_.device);
  }

  void check_trainable() const {
    if (options_.only_predicts) throw Error{"the model was loaded for predictions only"};
  }

  MeanLoss add_gradients(const data::Batch& batch, double weight,
                         const std::function<void(std::size_t)>& ready) {
    check_trainable();
    const at::AutoGradMode with_gradients{true};
    const LossOfLogits mean = [this](const at::Tensor& logits, const tensor::Batch& input) {
      return loss_.mean(logits, input);
    };
    const at::Tensor loss = passes_.passes->accumulate(
        {batch, weight, dropout_stream(options_.seed, batch), mean, ready, loss_scale_.get()});
    return MeanLoss{loss.detach()};
  }

  LoadedNetwork loaded_;
  ClassifierOptions options_;
  Precision precision_;
  AnyLoss loss_;
  std::int32_t adapters_ = 0;
  std::shared_ptr<tensor::LossScale> loss_scale_;
  MadePasses passes_;
};

}  // namespace seqtrain::model
