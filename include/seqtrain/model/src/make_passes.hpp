#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/kernel_passes.hpp>
#include <seqtrain/model/make_passes.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/operator_passes.hpp>
#include <seqtrain/model/packed_passes.hpp>

namespace seqtrain::model {

namespace detail {

/// Tells whether a device has an operator of attention of rows without padding. Besides GPUs that
/// is a device of another library that has it.
inline bool has_attention(c10::Device device, const char* name) {
  if (!device.is_privateuseone()) return device.is_cuda();
  const auto op = c10::Dispatcher::singleton().findSchema({name, ""});
  return op && op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1);
}

/// Tells whether a device is a GPU that cannot multiply bfloat16.
inline bool is_old(c10::Device device) {
  return device.is_cuda() && !has_native_bf16(device);
}

/// Returns the layers of a network if `packed::PackedPasses` can compute them.
inline std::optional<EncoderLayers> packed_layers(const Network& network, Precision precision,
                                                  const ClassifierOptions& options) {
  if (options.autograd || !has_attention(options.device, "aten::_efficient_attention_forward") ||
      (precision == Precision::bf16 && is_old(options.device))) {
    return {};
  }
  auto layers = network.layers();
  const auto fits = [&](const LayerParts& layer) {
    const auto heads = static_cast<std::int64_t>(layer.traits.heads);
    const std::int64_t head = layer.output.weight.size(0) / heads;
    return !options.device.is_cuda() || head % 8 == 0;  // as CUDA's operators demand
  };
  if (layers && !std::ranges::all_of(layers->layers, fits)) return {};
  return layers;
}

}  // namespace detail

SEQTRAIN_SEPARATE MadePasses make_passes(LoadedNetwork& loaded, Precision precision,
                                         const ClassifierOptions& options) {
  Network& network = *loaded.network;
  const bool frozen = options.freeze_encoder || options.only_predicts;
  MadePasses made;
  std::unique_ptr<cpu::AnyEncoder> kernels;
  if (options.device.is_cpu() && !options.autograd) {
    kernels = network.kernels(loaded.parameters, precision, options.only_predicts);
  }
  made.by_hand = kernels != nullptr;
  if (made.by_hand && options.encoder_is_fixed()) {
    network.forget_encoder();
    std::erase_if(loaded.parameters, [&](const tensor::Parameter& parameter) {
      return options.only_predicts && parameter.name.starts_with(std::string{loaded.prefix} + ".");
    });
    kernels->keep_packed_only();
  }
  if (precision == Precision::int8 && !made.by_hand) {
    throw InputError{"int8 is computed on a processor, for encoders with hand-written passes",
                     {.object = "precision"},
                     "use fp32, bf16, fp16 or auto"};
  }
  if (made.by_hand) {
    made.maps_in_bf16 = kernels->maps_in_bf16();
    made.passes =
        std::make_unique<KernelPasses>(std::move(kernels), network, loaded.parameters, frozen);
  } else if (const auto layers = detail::packed_layers(network, precision, options)) {
    made.passes = std::make_unique<packed::PackedPasses>(
        network, *layers, loaded.parameters, options.device, precision,
        static_cast<std::int32_t>(loaded.config.pad_token_id), frozen,
        precision != Precision::fp32 && !detail::is_old(options.device) &&
            detail::has_attention(options.device, "aten::_flash_attention_forward"));
  } else {
    made.passes = std::make_unique<OperatorPasses>(network, loaded.parameters, options.device,
                                                   precision, frozen);
  }
  return made;
}

}  // namespace seqtrain::model
