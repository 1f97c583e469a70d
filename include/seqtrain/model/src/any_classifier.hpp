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
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/logits.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/make_loss.hpp>
#include <seqtrain/model/make_backend.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/model/windowed_backend.hpp>
#include <seqtrain/tensor/finite.hpp>
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

struct AnyClassifier::State {
  LoadedNetwork loaded;
  ClassifierOptions options;
  Precision precision;
  AnyLoss loss;
  std::int32_t adapters = 0;
  std::shared_ptr<tensor::LossScale> loss_scale = nullptr;
  MadeBackend made = {};

  State(LoadedNetwork network, const ClassifierOptions& of)
      : loaded{std::move(network)},
        options{of},
        precision{resolve(of.precision, of.device)},
        loss{loss_with(of.loss)} {
    made = make_backend(loaded, precision, of);
    loaded.borrowed.own();
    if (auto& windows = options.windows) {
      windows->length = std::min(windows->length, static_cast<std::size_t>(loaded.max_length));
      windows->validate();
      const std::size_t most = options.most_tokens > 0 ? options.most_tokens : 8192;
      made.backend = std::make_unique<WindowedBackend>(std::move(made.backend), *windows, most);
    }
    if (precision != Precision::fp16 || of.only_predicts) return;
    loss_scale = std::make_shared<tensor::LossScale>(of.device);
    for (auto& parameter : loaded.parameters) parameter.loss_scale = loss_scale;
  }

  /// Writes the parameters in sentence-transformers' layout. The last two are those of the head.
  void save_modules(const std::filesystem::path& directory,
                    std::span<const weights::TensorView> views) const {
    std::vector<weights::TensorView> encoder{views.begin(), views.end() - 2};
    for (auto& view : encoder) view.name.erase(0, loaded.prefix.size() + 1);
    weights::write_safetensors(directory / "model.safetensors", encoder);
    weights::write_sentence_form(directory, *loaded.config.sentence, views.last(2));
  }

  [[nodiscard]] AnyLoss loss_with(const LossOptions& of) const {
    return make_loss(loaded.config.problem(), loaded.config.num_labels(), of, options.device);
  }

  void check_trainable() const {
    if (options.only_predicts) throw Error{"the model was loaded for predictions only"};
  }

  /// Returns the buffers and the fixed parameters of a head of the program's own.
  [[nodiscard]] std::vector<at::Tensor> buffers() const {
    std::vector<at::Tensor> result;
    if (!options.head) return result;
    for (const auto& parameter : loaded.parameters) {
      const bool of_head = parameter.name.starts_with(own_head_prefix);
      if (of_head && !parameter.gradient.defined()) result.push_back(parameter.value);
    }
    return result;
  }

  MeanLoss add_gradients(const data::Batch& batch, double weight,
                         const std::function<void(std::size_t)>& ready) {
    check_trainable();
    const at::AutoGradMode with_gradients{true};
    const LossOfLogits mean = [this](const at::Tensor& logits, const tensor::Batch& input) {
      return loss.mean(logits, input);
    };
    return MeanLoss{tensor::keep_finite(buffers(), [&] {
      const at::Tensor value = made.backend->accumulate(
          {batch, weight, dropout_stream(options.seed, batch), mean, ready, loss_scale.get()});
      return value.detach();
    })};
  }
};

SEQTRAIN_SEPARATE AnyClassifier::AnyClassifier(LoadedNetwork loaded,
                                               const ClassifierOptions& options)
    : state_{std::make_unique<State>(std::move(loaded), options)} {}
SEQTRAIN_SEPARATE AnyClassifier::AnyClassifier(AnyClassifier&&) noexcept = default;
SEQTRAIN_SEPARATE AnyClassifier& AnyClassifier::operator=(AnyClassifier&&) noexcept = default;
SEQTRAIN_SEPARATE AnyClassifier::~AnyClassifier() = default;

SEQTRAIN_SEPARATE MeanLoss AnyClassifier::accumulate(const data::Batch& batch, double weight) {
  return accumulate(batch, weight, {});
}

SEQTRAIN_SEPARATE MeanLoss AnyClassifier::accumulate(
    const data::Batch& batch, double weight, const std::function<void(std::size_t)>& ready) {
  check_ids(batch, config(), longest_row());
  check_labels(batch, config());
  return within_memory(batch, smaller_batches,
                       [&] { return state_->add_gradients(batch, weight, ready); });
}

SEQTRAIN_SEPARATE metrics::Logits AnyClassifier::logits(
    const data::Batch& batch, std::vector<text::DecidingWindow>* deciding) {
  check_ids(batch, config(), longest_row());
  detail::check_below(batch.adapters, state_->adapters + 1, "adapters", "adapters and itself");
  const char* const advice = state_->options.only_predicts ? fewer_texts : smaller_batches;
  return within_memory(batch, advice, [&] {
    const at::NoGradGuard no_gradients;
    const bool decides = deciding != nullptr && problem_type() != ProblemType::regression;
    return to_host(decides ? state_->made.backend->logits_by_window(batch, *deciding)
                           : state_->made.backend->logits(batch));
  });
}

SEQTRAIN_SEPARATE at::Tensor AnyClassifier::hidden(const data::Batch& batch) {
  check_ids(batch, config(), longest_row());
  const char* const advice = state_->options.only_predicts ? fewer_texts : smaller_batches;
  return within_memory(batch, advice, [&] {
    const at::NoGradGuard no_gradients;
    return state_->made.backend->hidden(batch);
  });
}

SEQTRAIN_SEPARATE double AnyClassifier::weight_of(const data::Batch& batch) const {
  check_labels(batch, config());
  return state_->loss.weight_of(batch);
}

SEQTRAIN_SEPARATE metrics::RowLosses AnyClassifier::losses(const metrics::Logits& logits,
                                                           const data::Batch& batch) const {
  return state_->loss.rows(logits, batch);
}

SEQTRAIN_SEPARATE void AnyClassifier::wrap_backend(const Wrap& wrap) {
  state_->made.backend =
      wrap(std::move(state_->made.backend), *state_->loaded.network, state_->loaded.parameters);
}

SEQTRAIN_SEPARATE void AnyClassifier::set_loss(AnyLoss loss) {
  state_->loss = std::move(loss);
}

SEQTRAIN_SEPARATE void AnyClassifier::set_loss(const LossOptions& options) {
  state_->loss = state_->loss_with(options);
}

SEQTRAIN_SEPARATE std::span<const tensor::Parameter> AnyClassifier::parameters() const& {
  state_->check_trainable();
  return state_->loaded.parameters;
}

SEQTRAIN_SEPARATE tensor::StateDict AnyClassifier::state_dict() const {
  return tensor::StateDict{parameters()};
}

SEQTRAIN_SEPARATE void AnyClassifier::load_state_dict(
    std::span<const weights::TensorView> tensors) {
  tensor::SavedTensors saved{tensors};
  for (const auto& parameter : parameters()) saved.take(parameter.name, parameter.value);
  saved.check_all_taken();
}

SEQTRAIN_SEPARATE bool AnyClassifier::add_adapter(LoadedNetwork adapter) {
  adapter.borrowed.own();
  const bool added =
      state_->made.backend->add_adapter(std::move(adapter.network), state_->precision);
  state_->adapters += added ? 1 : 0;
  return added;
}

SEQTRAIN_SEPARATE weights::AdapterConfig AnyClassifier::adapter_config() const {
  const std::string& name = state_->options.base_name;
  const auto revision = name.find('@');  // of a name on the hub
  weights::AdapterConfig result{.lora = *state_->options.lora,
                                .base = name.substr(0, revision),
                                .revision = revision == name.npos ? "" : name.substr(revision + 1)};
  if (name.empty()) result.base = std::filesystem::absolute(state_->loaded.directory).string();
  result.lora.targets = state_->loaded.adapted;
  result.fan_in_fan_out = state_->loaded.adapts_transposed;
  return result;
}

SEQTRAIN_SEPARATE void AnyClassifier::save_pretrained(
    const std::filesystem::path& directory) const {
  state_->check_trainable();
  std::filesystem::create_directories(directory);
  std::string architecture{state_->loaded.architecture};
  if (config().sentence || state_->options.head)
    architecture.replace(architecture.find("For"), architecture.npos, "Model");
  weights::write_config(directory / "config.json", state_->loaded.config_text, architecture,
                        config().labels, problem_type());
  const auto state = state_dict();
  if (config().sentence) return state_->save_modules(directory, state.views());
  if (state_->options.lora)
    return weights::write_adapter(directory, adapter_config(), state.views(),
                                  state_->loaded.peft_names);
  weights::write_safetensors(directory / "model.safetensors", state.views());
}

SEQTRAIN_SEPARATE ProblemType AnyClassifier::problem_type() const {
  return config().problem();
}

SEQTRAIN_SEPARATE Precision AnyClassifier::precision() const {
  return state_->precision;
}

SEQTRAIN_SEPARATE const weights::ModelConfig& AnyClassifier::config() const {
  return state_->loaded.config;
}

SEQTRAIN_SEPARATE const LoadReport& AnyClassifier::load_report() const {
  return state_->loaded.report;
}

SEQTRAIN_SEPARATE std::int64_t AnyClassifier::max_length() const {
  return state_->loaded.max_length;
}

SEQTRAIN_SEPARATE std::int64_t AnyClassifier::longest_row() const {
  return windows() ? std::int64_t{data::EncodedSet::most_ids_a_row} : max_length();
}

SEQTRAIN_SEPARATE const std::optional<text::Windows>& AnyClassifier::windows() const {
  return state_->options.windows;
}

SEQTRAIN_SEPARATE bool AnyClassifier::has_kernels() const {
  return state_->made.by_hand;
}

SEQTRAIN_SEPARATE const std::string& AnyClassifier::only_by_operators() const {
  return state_->made.only_by_operators;
}

SEQTRAIN_SEPARATE const std::string& AnyClassifier::own_kernels() const {
  return state_->made.own_kernels;
}

SEQTRAIN_SEPARATE std::int32_t AnyClassifier::adapters() const {
  return state_->adapters;
}

SEQTRAIN_SEPARATE std::size_t AnyClassifier::maps_in_bf16() const {
  return state_->made.maps_in_bf16;
}

}  // namespace seqtrain::model
