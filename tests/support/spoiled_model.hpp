#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::tests {

/// A model whose gradients are infinite in `count` steps from step `first` on, counted from 1.
class SpoiledModel {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using loss_type = model::AnyClassifier::loss_type;

  SpoiledModel(model::AnyClassifier model, std::int64_t first, std::int64_t count)
      : model_{std::move(model)}, first_{first}, count_{count} {}

  loss_type accumulate(const data::Batch& batch, double weight) {
    auto loss = model_.accumulate(batch, weight);
    if (++step_ >= first_ && step_ < first_ + count_) {
      model_.parameters()[2].gradient.fill_(std::numeric_limits<float>::infinity());
    }
    return loss;
  }
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const {
    return model_.parameters();
  }

 private:
  model::AnyClassifier model_;
  std::int64_t first_, count_;
  std::int64_t step_ = 0;
};

}  // namespace seqtrain::tests
