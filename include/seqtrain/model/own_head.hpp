#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/nn/pooling.hpp>

namespace seqtrain::model {

/// The names of the parameters and buffers of a head of the program's own begin with it.
inline constexpr std::string_view own_head_prefix = "head.";

/// A head of any class: it computes logits [rows, outputs] of pooled hidden states [rows, hidden],
/// fp32. Any backend computes the encoder below it.
class AnyHead {
 public:
  AnyHead() = default;
  AnyHead(const AnyHead&) = delete;
  AnyHead& operator=(const AnyHead&) = delete;
  virtual ~AnyHead() = default;

  /// Moves the parameters and the buffers to a device.
  virtual void to(c10::Device device) = 0;
  /// Returns the parameters and then the buffers, with their names. Those that require gradients
  /// learn. Checkpoints and saved models have all of them.
  [[nodiscard]] virtual std::vector<std::pair<std::string, at::Tensor>> parameters() const = 0;
  /// Returns logits [rows, outputs]. `trains` is false in an evaluation.
  [[nodiscard]] virtual at::Tensor forward(const at::Tensor& pooled, bool trains) const = 0;
};

/// A head that is a torch::nn::Module whose forward takes pooled hidden states [rows, hidden] and
/// returns logits [rows, outputs]. Its buffers, such as the running statistics of batch
/// normalization, must be changed in place. They keep their values if a batch would make them
/// infinite or NaN.
template <class Module>
class HeadOfModule : public AnyHead {
 public:
  explicit HeadOfModule(std::shared_ptr<Module> module) : module_{std::move(module)} {}

  void to(c10::Device device) override { module_->to(device); }

  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> parameters() const override {
    std::vector<std::pair<std::string, at::Tensor>> result;
    for (const auto& item : module_->named_parameters()) {
      result.emplace_back(item.key(), item.value());
    }
    for (const auto& item : module_->named_buffers()) result.emplace_back(item.key(), item.value());
    return result;
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& pooled, bool trains) const override {
    module_->train(trains);
    return module_->forward(pooled);
  }

 private:
  std::shared_ptr<Module> module_;
};

/// A head of the program's own in place of the family's.
struct OwnHead {
  /// Makes the head for an encoder's hidden_size and a number of labels. Torch's generator has the
  /// model's seed meanwhile, so that equal seeds give equal initial values.
  std::function<std::shared_ptr<AnyHead>(std::int64_t hidden_size, std::int64_t labels)> make = {};
  Pooling pooling = Pooling::mean;
};

/// Returns a head that is a `Module`, made from hidden_size and the number of labels.
template <class Module>
[[nodiscard]] OwnHead own_head(Pooling pooling = Pooling::mean) {
  return {.make =
              [](std::int64_t hidden_size, std::int64_t labels) {
                auto module = std::make_shared<Module>(hidden_size, labels);
                return std::make_shared<HeadOfModule<Module>>(std::move(module));
              },
          .pooling = pooling};
}

/// Throws `Error` unless a head of the program's own has returned numbers for each of its rows.
inline void check_outputs(const at::Tensor& outputs, std::int64_t rows) {
  if (outputs.defined() && outputs.dim() >= 2 && outputs.size(0) == rows &&
      outputs.is_floating_point()) {
    return;
  }
  std::ostringstream form;
  if (outputs.defined()) {
    form << c10::toString(outputs.scalar_type()) << " of the shape " << outputs.sizes();
  } else {
    form << "no tensor";
  }
  throw Error{"must return a row of numbers for each of the " + std::to_string(rows) +
                  " rows that it takes, Float of the shape [" + std::to_string(rows) +
                  ", outputs], but returns " + form.str(),
              {.object = "head"}};
}

/// The head that returns the hidden states which it takes.
class NoHead : public AnyHead {
 public:
  void to(c10::Device) override {}
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> parameters() const override {
    return {};
  }
  [[nodiscard]] at::Tensor forward(const at::Tensor& pooled, bool) const override { return pooled; }
};

/// Returns what takes the place of a head in an encoder whose logits are the hidden states: a loss
/// takes them, and the parameters that learn are the encoder's.
[[nodiscard]] inline OwnHead no_head(Pooling pooling = Pooling::mean) {
  return {.make = [](std::int64_t, std::int64_t) { return std::make_shared<NoHead>(); },
          .pooling = pooling};
}

}  // namespace seqtrain::model
