#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// A family of encoders that `Classifier` trains. `Config` is a `weights::ModelConfig`, or a type
/// derived from it that has more fields of config.json. An `Encoder` makes its parameters in a
/// scope and computes [rows, hidden] of a batch, which a `Head` turns into logits [rows, labels].
template <class A>
concept Architecture = std::derived_from<typename A::Config, weights::ModelConfig> &&
    requires(const weights::ConfigFile& file, const typename A::Config& config, const Scope& scope,
             const typename A::Encoder& encoder, const typename A::Head& head,
             const tensor::Batch& batch, const at::Tensor& hidden, Dropout& dropout) {
  // The family's name in config.json.
  { A::model_type } -> std::convertible_to<std::string_view>;
  // The first word of the names of the encoder's parameters.
  { A::prefix } -> std::convertible_to<std::string_view>;
  // The class of such classifiers in transformers.
  { A::classifier } -> std::convertible_to<std::string_view>;
  { A::read_config(file) } -> std::same_as<typename A::Config>;
  // The number of tokens that a row may have, including special tokens.
  { A::max_length(config) } -> std::same_as<std::int64_t>;
  requires std::constructible_from<typename A::Encoder, const Scope&, const typename A::Config&>;
  { encoder(batch, dropout) } -> std::same_as<at::Tensor>;
  requires std::constructible_from<typename A::Head, const Scope&, const typename A::Config&>;
  { head(hidden, dropout) } -> std::same_as<at::Tensor>;
};

/// An encoder that the hand-written backend may support. `cpu_parts` returns nothing if it does not
/// support its configuration. An encoder without this member runs on operators alone.
template <class E>
concept HasCpuParts = requires(const E& encoder) {
  { encoder.template cpu_parts<float>() } -> std::same_as<std::optional<cpu::EncoderParts<float>>>;
};

/// An encoder whose layers read no more than `EncoderLayers` says, so that `packed::Layers` can
/// compute them. `layers` may return nothing if a configuration needs more.
template <class E>
concept HasLayers = requires(const E& encoder, const tensor::Batch& batch, Dropout& dropout) {
  { encoder.embed(batch, dropout) } -> std::same_as<at::Tensor>;
  { encoder.layers() } -> std::convertible_to<std::optional<EncoderLayers>>;
};

namespace detail {

/// Fails to compile, with one plain sentence, unless the parts of a family are made and called as
/// `Architecture` says.
template <class A>
consteval void check_parts_of_family() {
  using Config = typename A::Config;
  using Encoder = typename A::Encoder;
  using Head = typename A::Head;
  static_assert(std::constructible_from<Encoder, const Scope&, const Config&>,
                "the family's Encoder has no constructor (const Scope&, const Config&)");
  static_assert(
      requires(const Encoder& encoder, const tensor::Batch& batch, Dropout& dropout) {
        { encoder(batch, dropout) } -> std::same_as<at::Tensor>;
      },
      "the family's Encoder has no operator()(const tensor::Batch&, Dropout&) const that returns "
      "an at::Tensor");
  static_assert(std::constructible_from<Head, const Scope&, const Config&>,
                "the family's Head has no constructor (const Scope&, const Config&)");
  static_assert(
      requires(const Head& head, const at::Tensor& hidden, Dropout& dropout) {
        { head(hidden, dropout) } -> std::same_as<at::Tensor>;
      },
      "the family's Head has no operator()(const at::Tensor&, Dropout&) const that returns an "
      "at::Tensor");
  static_assert(
      !requires(Encoder & encoder) { encoder.template cpu_parts<float>(); } || HasCpuParts<Encoder>,
      "the Encoder's cpu_parts<T>() must be const and return an "
      "std::optional<cpu::EncoderParts<T>>");
  static_assert(
      !requires(Encoder & encoder) { encoder.layers(); } || HasLayers<Encoder>,
      "the Encoder has layers(), but needs layers() const that returns EncoderLayers, and "
      "embed(const tensor::Batch&, Dropout&) const that returns an at::Tensor");
}

}  // namespace detail

/// Fails to compile, with one plain sentence that says what is missing, unless the type is an
/// `Architecture`. The page docs/concepts/architecture.md has the whole contract.
template <class A>
consteval bool is_architecture() {
  static_assert(
      requires {
        typename A::Config;
        typename A::Encoder;
        typename A::Head;
      },
      "the family does not name its Config, Encoder and Head");
  static_assert(std::derived_from<typename A::Config, weights::ModelConfig>,
                "the family's Config is not derived from weights::ModelConfig");
  static_assert(
      requires {
        { A::model_type } -> std::convertible_to<std::string_view>;
      },
      "the family has no static model_type, its name in config.json");
  static_assert(
      requires {
        { A::prefix } -> std::convertible_to<std::string_view>;
      },
      "the family has no static prefix, the first word of the names of the encoder's parameters");
  static_assert(
      requires {
        { A::classifier } -> std::convertible_to<std::string_view>;
      },
      "the family has no static classifier, the class of such classifiers in transformers");
  static_assert(
      requires(const weights::ConfigFile& file) {
        { A::read_config(file) } -> std::same_as<typename A::Config>;
      },
      "the family has no static read_config(const weights::ConfigFile&) that returns its Config");
  static_assert(
      requires(const typename A::Config& config) {
        { A::max_length(config) } -> std::same_as<std::int64_t>;
      },
      "the family has no static max_length(const Config&) that returns an std::int64_t");
  detail::check_parts_of_family<A>();
  return Architecture<A>;
}

}  // namespace seqtrain::model
