#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/where.h>

#include <seqtrain/model/nn/initial_weights.hpp>
#include <seqtrain/model/nn/parameters.hpp>

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

  [[nodiscard]] at::Tensor make(std::string_view name, at::IntArrayRef shape, Role role) const {
    return maker_->make(join(name), shape, role, part_);
  }

  /// Makes the adapter of the linear map that this place names, if it is to have one.
  [[nodiscard]] LowRank make_low_rank(std::int64_t in, std::int64_t out) const {
    return part_.lora == nullptr ? LowRank{} : maker_->make_low_rank(path_, in, out, *part_.lora);
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

}  // namespace detail

/// Computes x Wᵀ + b over the last dimension, and adds what its adapter computes of x after dropout
/// if it has one.
struct Linear {
  Linear(const Scope& scope, std::int64_t in, std::int64_t out, bool has_bias = true)
      : weight{scope.make("weight", {out, in}, Role::weight)},
        bias{detail::bias_of(scope, out, has_bias)},
        low_rank{scope.make_low_rank(in, out)} {}

  at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor y = at::linear(x, weight, detail::if_defined(bias));
    if (!low_rank.a.defined()) return y;
    const at::Tensor from = low_rank.pass ? (*low_rank.pass)(x, low_rank.dropout) : x;
    return y.add(at::linear(at::linear(from, low_rank.a), low_rank.b), low_rank.scale);
  }

  at::Tensor weight;  ///< [out, in]
  at::Tensor bias;    ///< [out]; may be undefined
  LowRank low_rank;
};

/// Normalizes the last dimension to mean 0 and variance 1, then scales and shifts it (Ba et al.
/// 2016).
struct LayerNorm {
  LayerNorm(const Scope& scope, std::int64_t size, double epsilon, bool has_bias = true)
      : weight{scope.make("weight", {size}, Role::scale)},
        bias{detail::bias_of(scope, size, has_bias)},
        eps{epsilon} {}

  at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, detail::if_defined(bias), eps);
  }

  at::Tensor weight;  ///< [size]
  at::Tensor bias;    ///< [size]; may be undefined
  double eps;
};

/// A table with a row for each id. The row `padding_id`, if there is one, is never trained.
struct Embedding {
  Embedding(const Scope& scope, std::int64_t rows, std::int64_t size, std::int64_t padding = -1)
      : weight{scope.make("weight", {rows, size}, Role::weight)}, padding_id{padding} {}

  at::Tensor operator()(const at::Tensor& ids) const {
    return at::embedding(weight, ids, padding_id);
  }

  at::Tensor weight;  ///< [rows, size]
  std::int64_t padding_id;
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

}  // namespace seqtrain::model
