#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/kernel_backend.hpp>
#include <seqtrain/model/make_backend.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/only_by_operators.hpp>
#include <seqtrain/model/operator_backend.hpp>
#include <seqtrain/model/packed/layer_graphs.hpp>
#include <seqtrain/model/packed/norm_on_device.hpp>
#include <seqtrain/model/packed_backend.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

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

/// Tells whether a device computes the windows of layers. It has to try: a LibTorch for CUDA may
/// lack FlashAttention, which also refuses old GPUs and large heads.
inline bool computes_windows(const EncoderLayers& layers, c10::Device device, at::ScalarType type) {
  const auto sliding_window = [](const LayerParts& layer) { return layer.traits.sliding_window; };
  const LayerParts& layer = *std::ranges::min_element(layers.layers, {}, sliding_window);
  if (sliding_window(layer) == LayerTraits{}.sliding_window || type == at::kFloat ||
      !has_attention(device, "aten::_flash_attention_forward")) {
    return false;
  }
  const at::TensorOptions options = at::TensorOptions{type}.device(device);
  const auto heads = static_cast<std::int64_t>(layer.traits.heads);
  const at::Tensor one = at::zeros({1, heads, head_size(layer)}, options);
  const at::Tensor starts = at::arange(2, options.dtype(at::kInt));
  try {
    at::_flash_attention_forward(one, one, one, starts, starts, 1, 1, 0, false, false, {}, 0, 0);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

/// Returns the names of what a network's layers have that only operators compute on the device.
inline std::string unusual_forms(const Network& network, c10::Device device) {
  const auto layers = network.layers();
  if (!layers) return {};
  return device.is_cpu() ? only_by_operators(*layers) : not_packed(*layers);
}

/// Returns the layers of a network if `packed::PackedBackend` can compute them.
inline std::optional<EncoderLayers> packed_layers(const Network& network, Precision precision,
                                                  const ClassifierOptions& options) {
  if (options.autograd || !has_attention(options.device, "aten::_efficient_attention_forward") ||
      (precision == Precision::bf16 && is_old(options.device))) {
    return {};
  }
  auto layers = network.layers();
  if (layers && !not_packed(*layers).empty()) return {};
  const auto fits = [&](const LayerParts& layer) {
    return !options.device.is_cuda() || head_size(layer) % 8 == 0;  // as CUDA's operators demand
  };
  if (layers && !std::ranges::all_of(layers->layers, fits)) return {};
  return layers;
}

/// Adds a sentence to what the log should say.
inline void add_sentence(std::string& said, const std::string& sentence) {
  said += (said.empty() ? "" : "\n") + sentence;
}

/// Returns kernels of our own for the norms of layers, or null if the environment does not ask for
/// them or they cannot compute all norms. `said` gets what the log should say.
inline std::shared_ptr<const packed::NormOnDevice> norms_on_device(const EncoderLayers& layers,
                                                                   std::string& said) {
  const auto say = [&said](const std::string& text) { add_sentence(said, text); };
  const c10::Device device = layers.layers.front().norm1.weight.device();  // it has an index
  auto made = packed::NormOnDevice::make(device, say);
  if (!made) return nullptr;
  const auto fits = [&](const LayerParts& layer) {
    return made->takes(layer.norm1) && made->takes(layer.norm2);
  };
  if (std::ranges::all_of(layers.layers, fits)) {
    say("Layer norms are kernels of our own on " + device.str());
    return made;
  }
  say("torch's operators compute layer norms: kernels of our own do not take their sizes or types");
  return nullptr;
}

/// Lets the backend of a device tell which rows of the table of words get a gradient.
inline void track_words(LoadedNetwork& loaded) {
  for (tensor::Parameter& parameter : loaded.parameters) {
    if (parameter.role != Role::words || !parameter.gradient.defined()) continue;
    const auto rows = static_cast<std::size_t>(parameter.value.size(0));
    parameter.touched = std::make_shared<tensor::RowSet>(rows);
  }
}

}  // namespace detail

SEQTRAIN_SEPARATE MadeBackend make_backend(LoadedNetwork& loaded, Precision precision,
                                           const ClassifierOptions& options) {
  Network& network = *loaded.network;
  if (!options.device.is_cpu()) detail::track_words(loaded);
  const bool keeps_tokens = network.head_takes_tokens();
  const bool frozen = options.freeze_encoder || options.only_predicts;
  MadeBackend made;
  std::unique_ptr<cpu::AnyEncoder> kernels;
  if (options.device.is_cpu() && !options.autograd) {
    kernels = network.kernels(loaded.parameters, precision, options.only_predicts);
  }
  made.by_hand = kernels != nullptr;
  if (!made.by_hand && !options.autograd) {
    made.only_by_operators = detail::unusual_forms(network, options.device);
  }
  if (made.by_hand && options.encoder_is_fixed()) {
    network.forget_encoder();
    std::erase_if(loaded.parameters, [&](const tensor::Parameter& parameter) {
      return options.only_predicts && parameter.name.starts_with(std::string{loaded.prefix} + ".");
    });
    kernels->keep_packed_only();
  }
  if (precision == Precision::int8 && !made.by_hand) {
    throw InputError{
        "int8 is computed on a processor, for encoders that the hand-written backend supports",
        {.object = "precision"},
        "use fp32, bf16, fp16 or auto"};
  }
  if (made.by_hand) {
    made.maps_in_bf16 = kernels->maps_in_bf16();
    made.backend = std::make_unique<KernelBackend>(std::move(kernels), network, loaded.parameters,
                                                   frozen, keeps_tokens);
  } else if (const auto layers = detail::packed_layers(network, precision, options)) {
    auto backend = std::make_unique<packed::PackedBackend>(
        network, *layers, loaded.parameters, options.device, precision,
        static_cast<std::int32_t>(loaded.config.pad_token_id), frozen, keeps_tokens,
        detail::computes_windows(*layers, options.device, type_of_products(precision)),
        detail::norms_on_device(*layers, made.own_kernels));
    if (packed::LayerGraphs::available(options.device)) {
      detail::add_sentence(made.own_kernels, backend->use_graphs(loaded.parameters));
    }
    made.backend = std::move(backend);
  } else {
    made.backend = std::make_unique<OperatorBackend>(network, loaded.parameters, options.device,
                                                     precision, frozen, keeps_tokens);
    if (packed::NormOnDevice::available(options.device)) {
      made.own_kernels = "torch's operators compute layer norms, as they do the whole encoder";
    }
    if (packed::LayerGraphs::available(options.device)) {
      detail::add_sentence(made.own_kernels, "the encoder's operators are started one by one");
    }
  }
  return made;
}

}  // namespace seqtrain::model
