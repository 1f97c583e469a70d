#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/borrowed_memory.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/peft_names.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

namespace cpu {
class AnyEncoder;
}  // namespace cpu

/// An encoder of any family and its head, computed by ATen's operators.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  /// Returns the pooled hidden states of a batch, [rows, hidden].
  [[nodiscard]] virtual at::Tensor encode(const tensor::Batch& batch, Dropout& dropout) const = 0;

  /// Returns the logits of pooled hidden states, [rows, labels].
  [[nodiscard]] virtual at::Tensor head(const at::Tensor& hidden, Dropout& dropout) const = 0;

  /// Tells whether the head takes the states of all tokens, [rows, width, hidden], which are 0 for
  /// padding.
  [[nodiscard]] virtual bool head_takes_tokens() const = 0;

  /// Returns the head if it is the one of sentence-transformers, else null.
  [[nodiscard]] virtual SentenceHead* sentence_head() = 0;

  /// Returns the hidden states before the encoder's layers, [rows, width, hidden], or [1, tokens,
  /// hidden] of a packed batch. Call it only if there are `layers`.
  [[nodiscard]] virtual at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const = 0;

  /// Returns the encoder's layers for packed batches, or nothing if they have another form.
  [[nodiscard]] virtual std::optional<EncoderLayers> layers() const = 0;

  /// Returns the ids whose rows of the table of words the encoder reads whatever a batch has.
  [[nodiscard]] virtual std::vector<std::int64_t> fixed_ids() const = 0;

  /// Returns the hand-written backend of the encoder, or null if it has none. `parameters` are
  /// those of the network.
  [[nodiscard]] virtual std::unique_ptr<cpu::AnyEncoder> kernels(
      std::span<tensor::Parameter> parameters, Precision precision, bool only_predicts) = 0;

  /// Frees the encoder's tensors, of which the backend keeps packed ones. `encode` must not be
  /// called afterwards.
  virtual void forget_encoder() = 0;
};

/// A network that was loaded from a checkpoint, with the facts that depend on its family.
struct LoadedNetwork {
  std::string config_text;  ///< the checkpoint's config.json
  weights::ModelConfig config;
  std::string_view prefix;                    ///< the first word of the encoder's parameters
  std::string_view architecture;              ///< the class of the classifier in transformers
  std::int64_t max_length;                    ///< the number of tokens that a row may have
  std::vector<tensor::Parameter> parameters;  ///< if only adapters and the head learn, these
  LoadReport report;
  std::filesystem::path directory;                     ///< the checkpoint
  std::vector<std::string> adapted = {};               ///< the linear layers that have an adapter
  bool adapts_transposed = false;                      ///< they have weights [in, out]
  std::span<const weights::PeftName> peft_names = {};  ///< of the family's linear layers
  /// The parameters of a model that only predicts may lie in the checkpoint's mapped files until
  /// `borrowed.own()` is called. Only then `WeightsFolder::check_unchanged` speaks for all of them.
  tensor::BorrowedMemory borrowed;
  std::unique_ptr<Network> network;
};

}  // namespace seqtrain::model
