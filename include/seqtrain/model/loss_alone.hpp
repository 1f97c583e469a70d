#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// A model whose outputs are no predictions: a `seqtrain::ScoredByLoss`. The loss takes the outputs
/// of a classifier's head, or the hidden states [rows, hidden] of an encoder with `no_head`, and
/// may compare the rows of a batch.
class LossAlone {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using loss_type = MeanLoss;

  LossAlone(AnyClassifier model, AnyLoss loss) : model_{std::move(model)} {
    model_.set_loss(std::move(loss));
  }

  /// Adds gradients as `AnyClassifier::accumulate` does.
  MeanLoss accumulate(const data::Batch& batch, double weight) {
    return model_.accumulate(batch, weight);
  }
  MeanLoss accumulate(const data::Batch& batch, double weight,
                      const std::function<void(std::size_t)>& ready) {
    return model_.accumulate(batch, weight, ready);
  }

  /// Returns the loss of each row of a batch, in evaluation mode and without gradients.
  metrics::RowLosses losses(const data::Batch& batch) {
    return model_.losses(model_.logits(batch), batch);
  }

  /// Returns the weight of a batch in a mean over several batches.
  [[nodiscard]] double weight_of(const data::Batch& batch) const { return model_.weight_of(batch); }

  [[nodiscard]] std::span<const tensor::Parameter> parameters() const& {
    return model_.parameters();
  }
  /// A temporary model would take its parameters with it.
  void parameters() const&& = delete;
  [[nodiscard]] tensor::StateDict state_dict() const { return model_.state_dict(); }
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    model_.load_state_dict(tensors);
  }

  /// Writes the files that `AnyClassifier::save_pretrained` writes.
  void save_pretrained(const std::filesystem::path& directory) const {
    model_.save_pretrained(directory);
  }

  /// Returns the classifier or the encoder below the loss.
  [[nodiscard]] AnyClassifier& classifier() { return model_; }
  [[nodiscard]] const AnyClassifier& classifier() const { return model_; }

 private:
  AnyClassifier model_;
};

}  // namespace seqtrain::model
