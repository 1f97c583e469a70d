#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <seqtrain/model/architecture.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/peft_names.hpp>
#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

/// The head that `ClassifierOptions::head` makes.
struct ReplacedHead {
  ReplacedHead(ParameterMaker& maker, const weights::ModelConfig& config,
               const ClassifierOptions& options)
      : takes_all{options.head->pooling == Pooling::none} {
    const tensor::SeededGenerator seeded{options.seed, c10::kCPU};
    head = options.head->make(config.hidden_size, config.num_labels());
    head->to(options.device);
    const std::string prefix{own_head_prefix};
    for (const auto& [name, value] : head->parameters()) maker.adopt(prefix + name, value);
  }

  /// Computes the head's outputs. In a training step torch's generator has a seed that depends on
  /// the step alone, so that dropout of the head's own repeats in a resumed run.
  at::Tensor operator()(const at::Tensor& pooled, Dropout& dropout) const {
    std::optional<tensor::SeededGenerator> seeded;
    if (dropout.seed()) seeded.emplace(~*dropout.seed(), pooled.device());
    at::Tensor outputs = head->forward(pooled.to(at::kFloat), at::GradMode::is_enabled());
    check_outputs(outputs, pooled.size(0));
    return outputs;
  }

  [[nodiscard]] bool takes_tokens() const { return takes_all; }

  std::shared_ptr<AnyHead> head;
  bool takes_all;
};

/// A network of a family.
template <Architecture Family>
class NetworkOf : public Network {
 public:
  NetworkOf(ParameterMaker& maker, const typename Family::Config& config,
            const ClassifierOptions& options, const weights::LoRA* lora)
      : encoder_{std::in_place,
                 Scope{maker,
                       std::string{Family::prefix},
                       {.required = true,
                        .frozen = options.freeze_encoder || options.encoder_is_fixed(),
                        .depth = {Depth::Part::embedding},
                        .initial = {config.initializer_range},
                        .lora = lora}},
                 config},
        head_{make_head(maker, config, options)},
        adapter_dropout_{maker.adapter_dropout()} {}

  [[nodiscard]] at::Tensor encode(const tensor::Batch& batch, Dropout& dropout) const override {
    *adapter_dropout_ = dropout;  // draws from the same generator
    return (*encoder_)(batch, dropout);
  }

  [[nodiscard]] at::Tensor head(const at::Tensor& hidden, Dropout& dropout) const override {
    return std::visit([&](const auto& head) { return head(hidden, dropout); }, head_);
  }

  [[nodiscard]] bool head_takes_tokens() const override {
    return std::visit(
        [](const auto& head) {
          if constexpr (requires { head.takes_tokens(); }) return head.takes_tokens();
          return false;
        },
        head_);
  }

  [[nodiscard]] SentenceHead* sentence_head() override { return std::get_if<SentenceHead>(&head_); }

  [[nodiscard]] at::Tensor embed([[maybe_unused]] const tensor::Batch& batch,
                                 [[maybe_unused]] Dropout& dropout) const override {
    *adapter_dropout_ = dropout;
    if constexpr (HasLayers<typename Family::Encoder>) return encoder_->embed(batch, dropout);
    return {};
  }

  [[nodiscard]] std::optional<EncoderLayers> layers() const override {
    if constexpr (HasLayers<typename Family::Encoder>) return encoder_->layers();
    return {};
  }

  [[nodiscard]] std::vector<std::int64_t> fixed_ids() const override {
    if constexpr (requires { encoder_->fixed_ids(); }) return encoder_->fixed_ids();
    return {};
  }

  [[nodiscard]] std::unique_ptr<cpu::AnyEncoder> kernels(std::span<tensor::Parameter> parameters,
                                                         Precision precision,
                                                         bool only_predicts) override {
    if constexpr (HasCpuParts<typename Family::Encoder>) {
      return cpu::passes_of(*encoder_, parameters, precision, only_predicts, head_takes_tokens());
    }
    return {};
  }

  void forget_encoder() override { encoder_.reset(); }

 private:
  using Head = std::variant<typename Family::Head, SentenceHead, ReplacedHead>;

  static Head make_head(ParameterMaker& maker, const typename Family::Config& config,
                        const ClassifierOptions& options) {
    if (options.head) return ReplacedHead{maker, config, options};
    const Scope root{
        maker, "", {.frozen = options.few_shot, .initial = {config.initializer_range}}};
    if (config.sentence) return SentenceHead{root, config};
    return typename Family::Head{root, config};
  }

  std::optional<typename Family::Encoder> encoder_;
  Head head_;
  std::shared_ptr<Dropout> adapter_dropout_;
};

/// Returns the number of the first layer that is initialised. Layers that share weights count as
/// one. Throws `InputError` if the encoder has fewer than `options.reinit_layers`.
template <class Config>
[[nodiscard]] std::int64_t first_fresh_layer(const Config& config,
                                             const ClassifierOptions& options) {
  std::int64_t layers = config.num_hidden_layers;
  if constexpr (requires { config.num_hidden_groups; }) layers = config.num_hidden_groups;
  if constexpr (requires { config.decoder_layers; }) layers += config.decoder_layers;
  if (options.reinit_layers >= 0 && options.reinit_layers <= layers) {
    return layers - options.reinit_layers;
  }
  throw InputError{"must be from 0 to " + std::to_string(layers) + ", the encoder's layers",
                   {.object = "reinit_layers"}};
}

/// Sets the pooling that a sentence encoder or a head of the program's own asks for. Throws
/// `InputError` if an encoder is asked for the last token.
inline void set_pooling(weights::ModelConfig& config, const ClassifierOptions& options) {
  if (config.sentence) {
    config.mean_pooling = config.sentence->mean_pooling;
    config.last_pooling = config.sentence->last_pooling;
  }
  if (options.head) {
    config.mean_pooling = options.head->pooling == Pooling::mean;
    config.last_pooling = options.head->pooling == Pooling::last_token;
  }
  if (!config.last_pooling || config.is_causal) return;
  throw InputError{"the pooling lasttoken is not supported for a " + config.model_type,
                   {.object = "modules.json"},
                   "decoders have it; use a Pooling by the mean or cls"};
}

/// Returns a family's names of linear layers in PEFT's adapters, where they are not its files'.
template <Architecture Family>
constexpr std::span<const weights::PeftName> peft_names_of() {
  if constexpr (requires { Family::peft_names; }) return Family::peft_names;
  return {};
}

/// Loads a network of that family. Throws `InputError` if the checkpoint, its config.json and the
/// options do not fit together.
template <Architecture Family>
[[nodiscard]] LoadedNetwork load_network(const weights::WeightsFolder& checkpoint,
                                         const weights::ConfigFile& file,
                                         const ClassifierOptions& options) {
  check_model_type(file, Family::model_type);
  auto config = Family::read_config(file);
  config.sentence = checkpoint.sentence();
  if (options.few_shot) config.sentence = weights::read_sentence_form(checkpoint.directory());
  set_pooling(config, options);
  if (const auto* const head = checkpoint.setfit_head()) {
    config.labels = head->labels();
    config.problem_type = head->problem_type();
  }
  const weights::LoRA* lora = options.lora ? &*options.lora : nullptr;
  if (const auto* const adapter = checkpoint.adapter()) {
    if (options.lora) throw InputError{"does not go with an adapter", {.object = "lora"}};
    lora = options.only_adapter ? &adapter->config().lora : nullptr;
    const auto labels = adapter->label_count().value_or(config.num_labels());
    if (labels != config.num_labels()) config.problem_type = {};  // the base's
    config.expect_labels(labels);
  }
  configure(config, options, file.name());
  if (config.sentence && (lora != nullptr || checkpoint.adapter() != nullptr)) {
    throw InputError{"a classifier of --few-shot has no adapters", {.object = file.name()}};
  }
  ParameterMaker maker{checkpoint,
                       {.prefix = Family::prefix,
                        .seed = options.seed,
                        .device = options.device,
                        .only_adapter = options.only_adapter,
                        .borrows = options.encoder_is_fixed() && options.device.is_cpu(),
                        .ignores_sizes = options.ignore_mismatched_sizes,
                        .advice_on_sizes = options.advice_on_sizes(),
                        .has_no_head = options.head && options.only_predicts,
                        .peft_names = peft_names_of<Family>(),
                        .first_fresh_layer = first_fresh_layer(config, options)}};
  auto network = std::make_unique<NetworkOf<Family>>(maker, config, options, lora);
  return {.config_text = file.text(),
          .config = config,
          .prefix = Family::prefix,
          .architecture = Family::classifier,
          .max_length = Family::max_length(config),
          .parameters = maker.parameters(),
          .report = maker.report(),
          .directory = checkpoint.directory(),
          .adapted = options.lora ? maker.adapted(*options.lora) : std::vector<std::string>{},
          .adapts_transposed = maker.adapts_transposed(),
          .peft_names = peft_names_of<Family>(),
          .borrowed = maker.borrowed(),
          .network = std::move(network)};
}

}  // namespace seqtrain::model
