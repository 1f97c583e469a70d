#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/kernel_passes.hpp>
#include <seqtrain/model/make_passes.hpp>
#include <seqtrain/model/operator_passes.hpp>
#include <seqtrain/model/packed/map.hpp>
#include <seqtrain/model/packed_passes.hpp>

namespace seqtrain::model {

namespace detail {

/// Tells whether a device has attention of rows without padding. Besides GPUs that is a device of
/// another library that has the operator.
inline bool has_packed_attention(c10::Device device) {
  if (!device.is_privateuseone()) return device.is_cuda();
  const auto op =
      c10::Dispatcher::singleton().findSchema({"aten::_efficient_attention_forward", ""});
  return op && op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1);
}

/// Returns the layers of a network that `packed::PackedPasses` can compute, or nothing.
inline std::vector<packed::LayerParts> packed_parts(const Network& network, Precision precision,
                                                    const ClassifierOptions& options) {
  if (options.autograd || options.lora || !has_packed_attention(options.device)) return {};
  if (precision == Precision::bf16 && options.device.is_cuda() &&
      !has_native_bf16(options.device)) {
    return {};
  }
  auto parts = network.packed_parts();
  const auto fits = [&](const packed::LayerParts& layer) {
    const std::int64_t head = layer.output.weight.size(0) / layer.heads;
    return !options.device.is_cuda() || head % 8 == 0;  // as CUDA's operator demands
  };
  return std::ranges::all_of(parts, fits) ? parts : std::vector<packed::LayerParts>{};
}

}  // namespace detail

SEQTRAIN_SEPARATE MadePasses make_passes(LoadedNetwork& loaded, Precision precision,
                                         const ClassifierOptions& options) {
  Network& network = *loaded.network;
  const bool frozen = options.freeze_encoder || options.only_predicts;
  MadePasses made;
  cpu::AnyEncoder kernels;
  if (options.device.is_cpu() && !options.autograd) {
    kernels = network.kernels(loaded.parameters, precision, options.only_predicts);
  }
  made.by_hand = static_cast<bool>(kernels);
  if (made.by_hand && options.encoder_is_fixed()) {
    network.forget_encoder();
    std::erase_if(loaded.parameters, [&](const tensor::Parameter& parameter) {
      return options.only_predicts && parameter.name.starts_with(std::string{loaded.prefix} + ".");
    });
    kernels.keep_packed_only();
  }
  if (precision == Precision::int8 && !made.by_hand) {
    throw InputError{"int8 is computed on a processor, for encoders with hand-written passes",
                     {.object = "precision"},
                     "use fp32, bf16, fp16 or auto"};
  }
  if (made.by_hand) {
    made.maps_in_bf16 = kernels.maps_in_bf16();
    made.passes =
        std::make_unique<KernelPasses>(std::move(kernels), network, loaded.parameters, frozen);
  } else if (auto parts = detail::packed_parts(network, precision, options);
             !parts.empty() && !loaded.config.mean_pooling) {
    made.passes = std::make_unique<packed::PackedPasses>(
        network, parts, loaded.parameters, options.device, precision,
        static_cast<std::int32_t>(loaded.config.pad_token_id), frozen);
  } else {
    made.passes = std::make_unique<OperatorPasses>(network, loaded.parameters, options.device,
                                                   precision, frozen);
  }
  return made;
}

}  // namespace seqtrain::model
