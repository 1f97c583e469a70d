#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/where.h>

#include <seqtrain/kernels/row_products.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/initial_weights.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/rope.hpp>
#include <seqtrain/tensor/autocast.hpp>

namespace seqtrain::model {

/// A place in the tree of names, where a layer makes its parameters.
class Scope {
 public:
  Scope(ParameterMaker& maker, std::string path, Part part)
      : maker_{&maker}, path_{std::move(path)}, part_{part} {}

  [[nodiscard]] Scope operator/(std::string_view name) const {
    return {*maker_, join(name), part_};
  }

  /// Returns the place with other initial values.
  [[nodiscard]] Scope initialised(const InitialWeights& initial) const {
    Scope result = *this;
    result.part_.initial = initial;
    return result;
  }

  /// Returns the place of layer `number`, whose names continue with the number. `below` layers of
  /// another stack come before it.
  [[nodiscard]] Scope layer(std::int64_t number, std::int64_t below = 0) const {
    Scope result = *this / std::to_string(number);
    result.part_.depth = {Depth::Part::layer, below + number};
    return result;
  }

  /// Returns the place for parameters that come after the layers.
  [[nodiscard]] Scope after_layers() const {
    Scope result = *this;
    result.part_.depth = {Depth::Part::head};
    return result;
  }

  /// Returns the place for parameters that never learn.
  [[nodiscard]] Scope fixed() const {
    Scope result = *this;
    result.part_.frozen = true;
    return result;
  }

  /// Returns the place for parameters whose gradients are complete only at the end of the backward
  /// pass, such as those that layers share.
  [[nodiscard]] Scope late() const {
    Scope result = *this;
    result.part_.late = true;
    return result;
  }

  /// Returns the place of linear layers whose weights are [in, out] in the state_dict.
  [[nodiscard]] Scope transposed() const {
    Scope result = *this;
    result.part_.transposed = true;
    return result;
  }
  [[nodiscard]] bool is_transposed() const { return part_.transposed; }

  /// Makes a parameter of this place.
  [[nodiscard]] at::Tensor make(std::string_view name, at::IntArrayRef shape, Role role) const {
    return maker_->make(join(name), shape, role, part_);
  }

  /// Makes a tensor of this place that never learns: the checkpoint's or, if that has none,
  /// `value`.
  [[nodiscard]] at::Tensor make_constant(std::string_view name, const at::Tensor& value) const {
    return maker_->make_constant(join(name), value, part_);
  }

  /// Makes the adapter of the linear layer that this place names, if it is to have one.
  [[nodiscard]] LowRank make_low_rank(std::int64_t in, std::int64_t out) const {
    return part_.lora == nullptr ? LowRank{} : maker_->make_low_rank(path_, in, out, part_);
  }

 private:
  [[nodiscard]] std::string join(std::string_view name) const {
    return path_.empty() ? std::string{name} : path_ + "." + std::string{name};
  }

  ParameterMaker* maker_;
  std::string path_;
  Part part_;
};

namespace detail {

/// Makes a bias, or an undefined tensor if there is none.
inline at::Tensor bias_of(const Scope& scope, std::int64_t size, bool has_bias) {
  return has_bias ? scope.make("bias", {size}, Role::bias) : at::Tensor{};
}

inline std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional{tensor} : std::nullopt;
}

/// Computes x Wᵀ + b of at most 64 rows in fp32 on the processor by `kernels::row_products`.
/// Returns nothing for other tensors, or while a gradient or autocast is wanted.
inline std::optional<at::Tensor> row_products(const at::Tensor& x, const at::Tensor& weight,
                                              const at::Tensor& bias) {
  constexpr std::int64_t most_rows = 64;  // with more, torch's product is faster
  const auto fits = [](const at::Tensor& t) { return t.is_cpu() && t.scalar_type() == at::kFloat; };
  if (at::GradMode::is_enabled() || at::autocast::is_autocast_enabled(at::kCPU) || x.dim() != 2 ||
      weight.dim() != 2 || x.size(0) > most_rows || x.size(1) != weight.size(1) || !fits(x) ||
      !fits(weight) || (bias.defined() && (!fits(bias) || bias.numel() != weight.size(0)))) {
    return {};
  }
  const at::Tensor rows = x.contiguous(), w = weight.contiguous();
  const at::Tensor b = bias.defined() ? bias.contiguous() : bias;
  const at::Tensor y = at::empty({x.size(0), w.size(0)}, at::kFloat);
  const auto size = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  kernels::row_products(rows.const_data_ptr<float>(), size(x.size(0)), size(x.size(1)),
                        w.const_data_ptr<float>(),
                        b.defined() ? b.const_data_ptr<float>() : nullptr, size(w.size(0)),
                        y.mutable_data_ptr<float>());
  return y;
}

/// Computes x Wᵀ + b. The bits of a row by `row_products` depend on that row alone, so that a
/// prediction does not depend on the texts beside it.
inline at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (auto y = row_products(x, weight, bias)) return *std::move(y);
  return at::linear(x, weight, if_defined(bias));
}

}  // namespace detail

/// Computes x Wᵀ + b over the last dimension, and adds what its adapter computes of x after dropout
/// if it has one.
struct Linear {
  Linear(const Scope& scope, std::int64_t in, std::int64_t out, bool has_bias = true)
      : transposed{scope.is_transposed()},
        weight{transposed ? scope.make("weight", {in, out}, Role::weight)
                          : scope.make("weight", {out, in}, Role::weight)},
        bias{detail::bias_of(scope, out, has_bias)},
        low_rank{scope.make_low_rank(in, out)} {}

  at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor y = detail::linear(x, transposed ? weight.t() : weight, bias);
    if (!low_rank.a.defined()) return y;
    const at::Tensor from = low_rank.pass ? (*low_rank.pass)(x, low_rank.dropout) : x;
    return y.add(detail::linear(detail::linear(from, low_rank.a, {}), low_rank.b, {}),
                 low_rank.scale);
  }

  bool transposed;    ///< see `Part::transposed`
  at::Tensor weight;  ///< [out, in], or [in, out] if `transposed`
  at::Tensor bias;    ///< [out]; may be undefined
  LowRank low_rank;
};

/// Normalizes the last dimension to mean 0 and variance 1, then scales and shifts it (Ba et al.
/// 2016). `rms` makes one that leaves the mean as it is, `none` one that leaves everything.
struct LayerNorm {
  /// The kind says to which values a norm brings the states of a token.
  enum class Kind { mean_and_variance, root_mean_square, nothing };

  LayerNorm(const Scope& scope, std::int64_t size, double epsilon, bool has_bias = true)
      : weight{scope.make("weight", {size}, Role::scale)},
        bias{detail::bias_of(scope, size, has_bias)},
        eps{epsilon} {}

  /// Returns RMSNorm (Zhang and Sennrich 2019): the root of the mean square becomes 1. The scale is
  /// the weight plus `offset`.
  static LayerNorm rms(const Scope& scope, std::int64_t size, double epsilon, double offset = 0) {
    LayerNorm norm;
    norm.weight = scope.make("weight", {size}, offset == 0 ? Role::scale : Role::bias);
    norm.eps = epsilon;
    norm.kind = Kind::root_mean_square;
    norm.offset = offset;
    return norm;
  }

  /// Returns a norm that changes nothing and has no parameter.
  static LayerNorm none() { return {}; }

  at::Tensor operator()(const at::Tensor& x) const {
    if (kind == Kind::nothing) return x;
    if (kind == Kind::mean_and_variance) {
      return at::layer_norm(x, weight.sizes(), weight, detail::if_defined(bias), eps);
    }
    const at::Tensor scale = offset == 0 ? weight : weight.add(offset);
    return at::rms_norm(x.to(at::kFloat), weight.sizes(), scale, eps);
  }

  at::Tensor weight;  ///< [size]
  at::Tensor bias;    ///< [size]; may be undefined
  double eps = 0;
  Kind kind = Kind::mean_and_variance;
  double offset = 0;  ///< added to the weight of RMSNorm

 private:
  LayerNorm() : kind{Kind::nothing} {}
};

/// A table with a row for each id. The row `padding_id`, if there is one, is never trained.
struct Embedding {
  Embedding(const Scope& scope, std::int64_t rows, std::int64_t size, std::int64_t padding = -1,
            Role role = Role::weight)
      : weight{scope.make("weight", {rows, size}, role)}, padding_id{padding} {}

  at::Tensor operator()(const at::Tensor& ids) const {
    return at::embedding(weight, ids, padding_id);
  }

  at::Tensor weight;  ///< [rows, size]
  std::int64_t padding_id;
};

/// A table with a row for each id of the vocabulary.
struct WordEmbedding : Embedding {
  WordEmbedding(const Scope& scope, std::int64_t rows, std::int64_t size, std::int64_t padding)
      : Embedding{scope, rows, size, padding, Role::words} {}
};

/// A table with a row for each token type. If there is one row, all tokens have it, whatever types
/// the tokenizer gives. Of two rows one is chosen by comparison, because the backward pass of
/// `at::embedding` on a GPU adds the gradients of many tokens with one id in an order that varies.
struct TypeEmbedding : Embedding {
  using Embedding::Embedding;

  at::Tensor operator()(const at::Tensor& types) const {
    if (weight.size(0) > 2) return Embedding::operator()(types);
    const at::Tensor first = weight.select(0, 0);
    return weight.size(0) == 1 ? first
                               : at::where(types.unsqueeze(-1).eq(0), first, weight.select(0, 1));
  }
};

/// The probabilities of dropout in an encoder.
struct DropoutRates {
  double embeddings = 0;
  double attention = 0;         ///< rate for attention's probabilities
  double attention_output = 0;  ///< rate for attention's output linear layer
  double gates = 0;             ///< rate for a gated network's activations
  double output = 0;            ///< rate for the feed-forward network's output linear layer
  double distances = 0;         ///< rate for the embeddings of distances, in each layer
};

/// The rules in which layers differ.
struct LayerTraits {
  ActivationKind activation;
  std::size_t heads;
  bool pre_norm = false;
  bool gated = false;  ///< one half of `intermediate` multiplies the activations of the other
  bool activates_second = false;  ///< the activations are the second half's, not the first's
  /// The number of products in a score, see `kernels::AttentionHead::parts`.
  std::size_t score_parts = 1;
  Rope rope = {};  ///< rotary positions of queries and keys
  /// The distance of the farthest key of a query, on either side.
  std::size_t sliding_window = std::numeric_limits<std::size_t>::max();
  bool causal = false;        ///< a query attends to no later key
  std::size_t key_heads = 0;  ///< heads of keys, each for several of queries; 0 for as many
  double score_scale = 0;     ///< factor of scores; 0 for 1 / √size
  double score_cap = 0;       ///< scores stay below it, by tanh; 0 if they may be of any size
};

/// The parts of a layer, from which `cpu::Layer` and `packed::Layer` are made. `only_by_operators`
/// and `not_packed` tell which of them these backends do not compute.
struct LayerParts {
  LayerTraits traits;
  /// The linear layers of queries, keys and values, or one of all three.
  std::vector<Linear> qkv;
  Linear attention_output;
  LayerNorm norm1;
  Linear intermediate, output;
  LayerNorm norm2;
  ScoreBias bias = {};  ///< added to scores, if it is not `EncoderLayers::distances`' own
  std::optional<Linear> gate = {};  ///< multiplies the activations, if `intermediate` does not
  /// Norms of each head's queries and keys, or of all heads' if they have that size.
  std::optional<LayerNorm> query_norm = {}, key_norm = {};
  /// Norms of what attention and the feed-forward network add to the residual.
  std::optional<LayerNorm> attention_result_norm = {}, result_norm = {};
};

/// Returns the size of a layer's heads.
[[nodiscard]] inline std::int64_t head_size(const LayerParts& layer) {
  return layer.attention_output.weight.size(1) / static_cast<std::int64_t>(layer.traits.heads);
}

/// The residual after a part of a layer and what the next part reads of it, or the gradients of
/// both. They are one tensor if norms come after their parts.
struct Hidden {
  at::Tensor residual, normal;
  at::Tensor narrow = {};  ///< `normal` in the type of products, if a kernel has written it

  /// Returns what the next part reads, in the type of products.
  [[nodiscard]] at::Tensor as(at::ScalarType type) const {
    return narrow.defined() ? narrow : normal.to(type);
  }
};

/// Adds the result y of a part of a layer to the residual, and normalizes.
template <class Norm>
[[nodiscard]] Hidden add_and_norm(const LayerTraits& traits, Norm& norm, const at::Tensor& residual,
                                  const at::Tensor& y) {
  const at::Tensor sum = residual.add(y);
  const at::Tensor normal = norm(sum);
  return {traits.pre_norm ? sum : normal, normal};
}

/// Returns the activations of a feed-forward network, given the result of its first linear layer.
[[nodiscard]] inline at::Tensor activate(const at::Tensor& x, const LayerTraits& traits) {
  if (!traits.gated) return activate(x, traits.activation);
  const auto parts = x.chunk(2, -1);
  const std::size_t active = traits.activates_second ? 1 : 0;
  return activate(parts[active], traits.activation).mul(parts[1 - active]);
}

/// A convolution of what the first layer reads, which is added to the layer's output. Tokens beyond
/// a row's ends count as zeros.
struct ConvolutionParts {
  at::Tensor weight;  ///< [hidden, hidden / groups, kernel], with an odd kernel
  at::Tensor bias;    ///< [hidden]
  LayerNorm norm;
  Activation activation;
  double dropout;  ///< rate before the activation
};

/// The layers of an encoder, whose result is the first token of each row, the last one or the mean
/// of its tokens.
struct EncoderLayers {
  std::vector<LayerParts> layers;
  /// The indices of the layers in the order in which tokens pass through them. If empty, each layer
  /// is applied once.
  std::vector<std::size_t> order = {};
  DropoutRates dropout = {};
  bool mean_pooling = false;
  DistancesOf distances = {};  ///< empty if scores do not depend on distances but by `LayerTraits`
  std::optional<ConvolutionParts> convolution = {};
  std::optional<LayerNorm> first_norm = {};  ///< norms what the first attention reads
  bool last_pooling = false;                 ///< the result is the last token, if not the mean
};

/// Makes norms that each layer has before its parts norms of what the next part reads: `norm2`
/// becomes `norm1`, and `norm1` that of the layer before or `first_norm`. `last` is the norm after
/// all layers.
inline void put_norms_first(EncoderLayers& all, const LayerNorm& last) {
  all.first_norm = all.layers.front().norm1;
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    LayerParts& layer = all.layers[i];
    layer.traits.pre_norm = true;
    layer.norm1 = layer.norm2;
    layer.norm2 = i + 1 < all.layers.size() ? all.layers[i + 1].norm1 : last;
  }
}

/// Returns the index of a layer for each step. If there is no order, each layer is applied once.
[[nodiscard]] inline std::vector<std::size_t> steps(std::vector<std::size_t> order,
                                                    std::size_t layers) {
  if (!order.empty()) return order;
  order.resize(layers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace seqtrain::model
