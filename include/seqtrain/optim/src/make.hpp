#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/adafactor.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/lion.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/optim/muon.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/optim/sgd.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

namespace detail {

/// Throws `InputError` if the optimizer cannot train these parameters.
inline void check_trains(Choice::Type type, std::span<const tensor::Parameter> parameters) {
  const auto is_elsewhere = [](const auto& parameter) { return !parameter.value.is_cpu(); };
  const auto elsewhere = std::ranges::find_if(parameters, is_elsewhere);
  if (type == Choice::Type::adamw_8bit && elsewhere != parameters.end()) {
    throw InputError{"is for processors, and this device is " + elsewhere->value.device().str(),
                     {.object = "adamw-8bit"},
                     "use adamw"};
  }
  const auto is_muons = [](const auto& parameter) {
    return parameter.gradient.defined() && is_hidden_matrix(parameter);
  };
  if (type == Choice::Type::muon && std::ranges::none_of(parameters, is_muons)) {
    throw InputError{"trains matrices of layers, and none of this model's is trained",
                     {.object = "muon"},
                     "use adamw"};
  }
}

inline AdamOptions adam_options(const Choice& choice, LrFactors factors) {
  return {.lr = choice.lr,
          .beta1 = choice.beta1,
          .beta2 = choice.beta2,
          .eps = choice.eps,
          .weight_decay = choice.weight_decay,
          .decoupled_weight_decay = choice.type != Choice::Type::adam,
          .eight_bit = choice.type == Choice::Type::adamw_8bit,
          .lr_factors = std::move(factors)};
}

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE Any make(const Choice& choice,
                                         std::span<const tensor::Parameter> parameters,
                                         const std::function<void(const std::string&)>& say) {
  choice.validate();
  if (choice.head_lr && !tells_head(parameters)) {
    throw InputError{"is for a model that says which of its parameters are its head",
                     {.object = "optimizer", .field = "head_lr"},
                     "give all of them one lr, or set Parameter::depth"};
  }
  detail::check_trains(choice.type, parameters);
  const double head = choice.head_lr ? *choice.head_lr / choice.lr : 1;
  LrFactors factors = layerwise(parameters, choice.layerwise_lr_decay, head);
  const auto named = [&](auto optimizer) {
    return Any{std::move(optimizer), std::string{name(choice.type)}};
  };
  switch (choice.type) {
    case Choice::Type::lion:
      return named(Lion{{.lr = choice.lr,
                         .beta1 = choice.beta1,
                         .beta2 = choice.beta2,
                         .weight_decay = choice.weight_decay,
                         .lr_factors = std::move(factors)}});
    case Choice::Type::adafactor:
      return named(Adafactor{{.lr = choice.lr,
                              .weight_decay = choice.weight_decay,
                              .scale_parameter = false,
                              .lr_factors = std::move(factors)}});
    case Choice::Type::sgd:
      return named(Sgd{{.lr = choice.lr,
                        .momentum = choice.momentum.value_or(SgdOptions{}.momentum),
                        .weight_decay = choice.weight_decay,
                        .lr_factors = std::move(factors)}});
    case Choice::Type::muon:
      return named(Muon{{.lr = choice.lr,
                         .momentum = choice.momentum.value_or(MuonOptions{}.momentum),
                         .beta1 = choice.beta1,
                         .beta2 = choice.beta2,
                         .eps = choice.eps,
                         .weight_decay = choice.weight_decay,
                         .lr_factors = std::move(factors)}});
    default: {
      AdamOptions options = detail::adam_options(choice, std::move(factors));
      if (!parameters.empty()) {
        options.on_device = AdamOnDevice::make(parameters.front().value.device(), say);
      }
      return named(Adam{std::move(options)});
    }
  }
}

}  // namespace seqtrain::optim
