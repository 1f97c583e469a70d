#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/weights/model_class.hpp>

namespace seqtrain::model {

/// Returns lines for the log about a checkpoint: the parameters that are new, those that are new
/// because of their sizes, and the tensors that were left out.
inline std::string describe(const LoadReport& report) {
  static constexpr std::size_t most = 50;
  const auto line = [](const std::string& what, const std::vector<std::string>& names) {
    if (names.empty()) return std::string{};
    std::string text = what + ": " + joined(std::span{names}.first(std::min(names.size(), most)));
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text + "\n";
  };
  const std::string wrapper = report.wrapper.empty() ? ""
                                                     : "All names in the checkpoint begin with " +
                                                           report.wrapper + ", which is left out\n";
  return wrapper + line("New, not in the checkpoint", report.fresh) +
         line("New, of other sizes in the checkpoint", report.resized) +
         line("Initialised anew by --reinit-layers", report.begun_anew) +
         line("Left out of the checkpoint", report.left_out);
}

/// Returns a line for the log about a model's precision, with a warning if another precision would
/// be faster. `maps_in_bf16` is the number of linear layers that an int8 model computes in bf16.
inline std::string describe(Precision used, c10::Device device, std::size_t maps_in_bf16 = 0) {
  if (used == Precision::int8) {
    std::string line = "Precision: int8 linear layers, fp32 norms, softmax and head";
    if (maps_in_bf16 > 0) {
      line += "; bf16 for " + std::to_string(maps_in_bf16) +
              " of the linear layers, which read numbers that int8 cannot hold well";
    }
    if (!kernels::has_int8_instructions()) {
      line += "; warning: this processor has no products of bytes, so fp32 may be faster";
    }
    return line;
  }
  if (used == Precision::fp16) return "Precision: fp16 products, fp32 sums";
  if (used != Precision::bf16) return "Precision: fp32";
  std::string line = "Precision: bf16 products, fp32 sums";
  if (!has_native_bf16(device)) {
    line += "; warning: this device does not compute bf16 natively, so fp32 is probably faster";
  }
  return line;
}

/// Returns lines for the log about a model that was loaded with these options.
template <class M>
std::string describe(const M& model, const ClassifierOptions& options) {
  std::string lines = describe(model.load_report()) + describe(model.precision(), options.device);
  const std::string& forms = model.only_by_operators();
  if (!forms.empty()) {
    lines += "\nThe encoder is computed by ATen's operators: other backends lack " + forms;
  }
  if (const std::string& said = model.own_kernels(); !said.empty()) lines += "\n" + said;
  return lines;
}

/// Throws `InputError` if the model in a directory, which is to predict, lacks some parameters.
inline void check_trained(const LoadReport& report, const std::filesystem::path& directory) {
  if (report.fresh.empty()) return;
  const auto is_of_own_head = [](const std::string& name) {
    return name.starts_with(own_head_prefix);
  };
  // A family's head may have such names too, but its class says so.
  const bool is_encoder = weights::model_class(directory).ends_with("Model");
  if (is_encoder && std::ranges::any_of(report.left_out, is_of_own_head)) {
    throw InputError{"has a head of a program's own, which only that program computes",
                     {.object = directory.string()},
                     "see predictions.jsonl of the run, which the program has written"};
  }
  throw weights::not_trained(directory, report.wrapper + report.fresh.front());
}

}  // namespace seqtrain::model
