#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model::cpu {

/// Whether there are kernels for an encoder of this shape.
[[nodiscard]] inline bool supports(const weights::ModelConfig& config) {
  constexpr std::int64_t unit = panel;
  return config.hidden_size % unit == 0 && config.intermediate_size % unit == 0;
}

/// Finds an encoder's parts by their names in the state_dict, which begin with `prefix`.
template <class T>
class PartFinder {
 public:
  PartFinder(std::span<tensor::Parameter> parameters, std::string_view prefix,
             const weights::ModelConfig& config)
      : parameters_{parameters}, prefix_{prefix}, config_{&config} {}

  [[nodiscard]] EncoderParts<T> find(bool positions_behind_padding) const {
    EncoderParts<T> parts{.embeddings = embeddings(positions_behind_padding),
                          .layers = {},
                          .hidden_dropout = config_->hidden_dropout_prob,
                          .attention_dropout = config_->attention_probs_dropout_prob};
    for (std::int64_t i = 0; i < config_->num_hidden_layers; ++i) {
      parts.layers.push_back(layer("encoder.layer." + std::to_string(i) + "."));
    }
    return parts;
  }

 private:
  using Part = typename Linear<T>::Part;

  [[nodiscard]] tensor::Parameter& at(const std::string& name) const {
    const std::string full = std::string{prefix_} + name;
    for (auto& parameter : parameters_) {
      if (parameter.name == full) return parameter;
    }
    throw Error{"the model has no such parameter", {.object = full}};
  }

  [[nodiscard]] Part part(const std::string& name) const {
    const auto& weight = at(name + ".weight");
    const auto& bias = at(name + ".bias");
    return {weight.value, bias.value, weight.gradient, bias.gradient};
  }

  [[nodiscard]] NormTensors norm(const std::string& name) const {
    const Part tensors = part(name);
    return {tensors.weight, tensors.bias, tensors.weight_gradient, tensors.bias_gradient,
            config_->layer_norm_eps};
  }

  [[nodiscard]] Table table(const std::string& name, std::int64_t padding_id = -1) const {
    auto& parameter = at("embeddings." + name + ".weight");
    if (parameter.gradient.defined()) {
      parameter.touched =
          std::make_shared<tensor::RowSet>(static_cast<std::size_t>(parameter.value.size(0)));
      parameter.touched->take_into_account(tensor::changes_of(parameter.gradient));
    }
    return {parameter.value, parameter.gradient, parameter.touched, padding_id};
  }

  [[nodiscard]] Embeddings embeddings(bool positions_behind_padding) const {
    const std::int64_t pad = config_->pad_token_id;
    return {.word = table("word_embeddings", pad),
            .position = table("position_embeddings", positions_behind_padding ? pad : -1),
            .type = table("token_type_embeddings"),
            .norm = norm("embeddings.LayerNorm"),
            .positions_behind_padding = positions_behind_padding};
  }

  [[nodiscard]] Layer<T> layer(const std::string& name) const {
    const std::string self = name + "attention.self.";
    return {.qkv = Linear<T>{{part(self + "query"), part(self + "key"), part(self + "value")}},
            .attention_output = Linear<T>{{part(name + "attention.output.dense")}},
            .intermediate = Linear<T>{{part(name + "intermediate.dense")}},
            .output = Linear<T>{{part(name + "output.dense")}},
            .norm1 = norm(name + "attention.output.LayerNorm"),
            .norm2 = norm(name + "output.LayerNorm"),
            .activation = activation(),
            .heads = static_cast<std::size_t>(config_->num_attention_heads)};
  }

  [[nodiscard]] ActivationKind activation() const {
    if (config_->hidden_act == "gelu") return ActivationKind::gelu;
    return config_->hidden_act == "relu" ? ActivationKind::relu : ActivationKind::gelu_new;
  }

  std::span<tensor::Parameter> parameters_;
  std::string_view prefix_;
  const weights::ModelConfig* config_;
};

}  // namespace seqtrain::model::cpu
