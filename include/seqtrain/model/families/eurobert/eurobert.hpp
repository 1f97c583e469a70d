#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/families/eurobert/config.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/token_pooling.hpp>

namespace seqtrain::model {

/// Two linear layers with GELU between them. Logits are those of one state for each text, or the
/// means of all tokens' logits.
class EuroBertHead {
 public:
  EuroBertHead(const Scope& root, const EuroBertConfig& config)
      : dense_{root / "dense", config.hidden_size, config.hidden_size},
        classifier_{root / "classifier", config.hidden_size, config.num_labels()},
        takes_tokens_{config.late_pooling} {}

  /// Tells whether the head takes the states of all tokens, which are 0 for padding.
  [[nodiscard]] bool takes_tokens() const { return takes_tokens_; }

  /// Returns logits [rows, labels] for states [rows, hidden], or [rows, width, hidden] if
  /// `takes_tokens()`.
  at::Tensor operator()(const at::Tensor& states, Dropout&) const {
    const at::Tensor logits = classifier_(at::gelu(dense_(states)));
    if (!takes_tokens_) return logits;
    const at::Tensor is_token = has_token(states);
    return logits.mul(is_token).sum(1).div(is_token.sum(1));
  }

 private:
  Linear dense_, classifier_;
  bool takes_tokens_;
};

/// EuroBERT (Boizard et al. 2025): an encoder with Llama's layers, whose tokens attend to all.
struct EuroBert : DecoderFamily<EuroBert> {
  static constexpr std::string_view model_type = "eurobert";
  static constexpr std::string_view classifier = "EuroBertForSequenceClassification";
  static constexpr DecoderForm form{.causal = false};
  using Config = EuroBertConfig;
  using Head = EuroBertHead;

  static constexpr auto read_config = read_eurobert_config;
};

}  // namespace seqtrain::model
