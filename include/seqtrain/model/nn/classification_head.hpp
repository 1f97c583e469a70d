#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tanh.h>

#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The names of a head's linear layers in the state_dict, and rules in which families differ.
struct HeadForm {
  std::string_view dense;
  std::string_view output = "classifier";
  Activation activation = at::tanh;
  double input_dropout = 0;  ///< probability of dropout before the first linear layer
};

/// Two linear layers with an activation and dropout between them. Some families call the first one
/// pooler and store it with the encoder. `Family::head_form(config)` returns a `HeadForm`.
template <class Family>
class ClassificationHead {
 public:
  ClassificationHead(const Scope& root, const typename Family::Config& config)
      : ClassificationHead{root, config, Family::head_form(config)} {}

  /// Returns logits [rows, labels] for the hidden states of first tokens [rows, hidden].
  at::Tensor operator()(const at::Tensor& first, Dropout& dropout) const {
    const at::Tensor hidden = activation_(dense_(dropout(first, input_dropout_)));
    return output_(dropout(hidden, dropout_));
  }

 private:
  ClassificationHead(const Scope& root, const weights::ModelConfig& config, const HeadForm& form)
      : dense_{root / form.dense, config.hidden_size, config.hidden_size},
        output_{root / form.output, config.hidden_size, config.num_labels()},
        activation_{form.activation},
        input_dropout_{form.input_dropout},
        dropout_{config.classifier_dropout_prob()} {}

  Linear dense_, output_;
  Activation activation_;
  double input_dropout_;
  double dropout_;
};

}  // namespace seqtrain::model
