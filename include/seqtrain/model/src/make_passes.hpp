#pragma once

#include <memory>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/kernel_passes.hpp>
#include <seqtrain/model/make_passes.hpp>
#include <seqtrain/model/operator_passes.hpp>

namespace seqtrain::model {

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
  if (precision == Precision::int8 && !made.by_hand) {
    throw InputError{"int8 is computed on a processor, for encoders with BERT's layers",
                     {.object = "precision"},
                     "use fp32, bf16 or auto"};
  }
  if (made.by_hand) {
    made.maps_in_bf16 = kernels.maps_in_bf16();
    made.passes = std::make_unique<KernelPasses>(std::move(kernels), network, loaded.parameters,
                                                 loaded.config.hidden_size, frozen);
  } else {
    made.passes = std::make_unique<OperatorPasses>(network, options.device, precision, frozen);
  }
  return made;
}

}  // namespace seqtrain::model
