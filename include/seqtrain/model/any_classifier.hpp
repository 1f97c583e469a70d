#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/model/load_report.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/options.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/weights/lora.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

class Network;
class Backend;
struct LoadedNetwork;

/// A pre-trained encoder of any family with a head for sequence classification: a
/// `seqtrain::Model`. On the processor the kernels in model/cpu/ compute the encoder if they
/// support its shape, and on a GPU `packed::PackedBackend` if they support its layers.
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

  AnyClassifier(LoadedNetwork loaded, const ClassifierOptions& options);
  AnyClassifier(AnyClassifier&&) noexcept;
  AnyClassifier& operator=(AnyClassifier&&) noexcept;
  ~AnyClassifier();

  /// Adds weight · d(mean loss)/dp to the gradients, times the loss scale in fp16. Throws `Error`
  /// with the batch's size if there is too little memory for it.
  MeanLoss accumulate(const data::Batch& batch, double weight);

  /// Calls `ready(i)`, if it is given, when the gradients of the parameters from number i on,
  /// except late ones, are complete or, on a device, queued, while those of earlier layers are
  /// computed.
  MeanLoss accumulate(const data::Batch& batch, double weight,
                      const std::function<void(std::size_t)>& ready);

  /// Returns logits [rows, labels], in evaluation mode. Sets `deciding` to the window of each row
  /// that decided, if it is given and a classifier reads windows. Throws as `accumulate` does.
  metrics::Logits logits(const data::Batch& batch,
                         std::vector<text::DecidingWindow>* deciding = nullptr);

  /// Returns the hidden states that the head takes, on the model's device, fp32, in evaluation mode
  /// and without gradients: [rows, hidden], pooled as the family does or `ClassifierOptions::head`
  /// says, or [rows, width, hidden]. A head of one's own takes them with gradients, and so does a
  /// loss if there is `no_head`. Throws as `accumulate` does, and `InputError` if the model reads
  /// windows.
  at::Tensor hidden(const data::Batch& batch);

  /// Returns the weight of a batch in a mean over several batches: the sum of its rows' weights in
  /// the loss. With these weights, gradients accumulated over several batches equal the gradients
  /// of one batch with all rows.
  [[nodiscard]] double weight_of(const data::Batch& batch) const;

  /// Returns the training loss of each row of a batch with these logits [rows, labels].
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits& logits,
                                          const data::Batch& batch) const;

  /// Returns what takes the place of the backend of a network with these parameters.
  using Wrap = std::function<std::unique_ptr<Backend>(std::unique_ptr<Backend>, Network&,
                                                      std::span<const tensor::Parameter>)>;
  /// Replaces the backend by `wrap(backend, network, parameters)`.
  void wrap_backend(const Wrap& wrap);

  /// Replaces the loss by one of your own.
  void set_loss(AnyLoss loss);
  /// Replaces `ClassifierOptions::loss`.
  void set_loss(const LossOptions& options);

  [[nodiscard]] ProblemType problem_type() const;

  /// Returns the precision of the encoder's products.
  [[nodiscard]] Precision precision() const;

  /// Throws `Error` if the model was loaded for predictions only.
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const&;
  /// A temporary model would take its parameters with it.
  void parameters() const&& = delete;
  /// Throws as `parameters` does.
  [[nodiscard]] tensor::StateDict state_dict() const;

  /// Copies the values of `state_dict().views()`. Throws `InputError` if names or shapes do not
  /// fit; some parameters may then have changed. Also throws as `parameters` does.
  void load_state_dict(std::span<const weights::TensorView> tensors);

  [[nodiscard]] const weights::ModelConfig& config() const;
  /// Returns the names of the labels, or those of a regression's targets.
  [[nodiscard]] const std::vector<std::string>& label_names() const { return config().labels; }
  [[nodiscard]] const LoadReport& load_report() const;

  /// Returns the number of tokens that the encoder reads at once, including special tokens.
  [[nodiscard]] std::int64_t max_length() const;
  /// Returns the number of tokens that a row may have, which is larger if it is read in windows.
  [[nodiscard]] std::int64_t longest_row() const;

  /// Returns the windows in which texts are read, if they are.
  [[nodiscard]] const std::optional<text::Windows>& windows() const;

  /// Tells whether the hand-written backend computes the encoder. If not, the bits of a row's
  /// logits depend on the other rows of its batch.
  [[nodiscard]] bool has_kernels() const;
  /// Returns the names of what the encoder has that only ATen's operators compute, or "".
  [[nodiscard]] const std::string& only_by_operators() const;
  /// Returns what the log should say about kernels of our own that the environment asks for, or "".
  [[nodiscard]] const std::string& own_kernels() const;

  /// Returns the number of adapters that were added.
  [[nodiscard]] std::int32_t adapters() const;
  /// Adds an adapter of a model that only predicts, loaded with `ClassifierOptions::only_adapter`.
  /// Rows of batches have it by the next number from 1 on. Returns false if the backend does not
  /// compute several adapters.
  bool add_adapter(LoadedNetwork adapter);

  /// See `cpu::AnyEncoder::maps_in_bf16`.
  [[nodiscard]] std::size_t maps_in_bf16() const;

  /// Returns the facts about its adapter. Call it only if `ClassifierOptions::lora` has a value.
  [[nodiscard]] weights::AdapterConfig adapter_config() const;

  /// Writes config.json and model.safetensors as `from_pretrained` reads them, or PEFT's layout of
  /// an adapter, or sentence-transformers' layout. A head of the program's own is in
  /// model.safetensors by names that begin with `head.`. Throws as `parameters` does.
  void save_pretrained(const std::filesystem::path& directory) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/any_classifier.hpp>
#endif
