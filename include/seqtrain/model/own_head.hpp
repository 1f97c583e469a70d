#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>

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
