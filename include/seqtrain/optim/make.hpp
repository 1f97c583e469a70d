#pragma once

#include <functional>
#include <span>
#include <string>

#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

/// Makes an optimizer for a model's parameters. Adafactor steps by the learning rate itself, not by
/// a multiple of a parameter's size, so that `Choice::lr` means the same for all. Throws
/// `InputError` if options are out of range, if 8-bit moments are asked for on another device than
/// the processor, or if Muon has no hidden matrix to train. `say` gets a sentence if a kernel that
/// the environment asks for cannot be used.
[[nodiscard]] SEQTRAIN_SEPARATE Any make(const Choice& choice,
                                         std::span<const tensor::Parameter> parameters,
                                         const std::function<void(const std::string&)>& say = {});

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/make.hpp>
#endif
