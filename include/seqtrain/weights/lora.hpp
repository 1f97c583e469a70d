#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>

namespace seqtrain::weights {

/// Options of low-rank adapters (Hu et al. 2022): a linear layer with the frozen weight W computes
/// x (W + s B A)ᵀ, where A [rank, in] and B [out, rank] learn.
struct LoRA {
  std::int64_t rank = 8;
  double alpha = 16;
  double dropout = 0;            ///< rate for the x of B A
  bool rank_stabilised = false;  ///< s is alpha / √rank (Kalajdzievski 2023), not alpha / rank
  /// The linear layers of the encoder that are adapted: all, attention, or the last words of their
  /// names in the state_dict, such as query or attention.output.dense.
  std::vector<std::string> targets = {"all"};

  /// Returns s.
  [[nodiscard]] double scale() const {
    const auto size = static_cast<double>(rank);
    return alpha / (rank_stabilised ? std::sqrt(size) : size);
  }

  /// Tells whether the linear layer of this name is one that `target` means.
  [[nodiscard]] static bool fits(std::string_view target, std::string_view name) {
    const auto has = [&](const char* words) { return name.find(words) != name.npos; };
    if (target == "attention") return has(".attention.") || has("attn.");
    return target == "all" || name == target || name.ends_with(std::string{"."}.append(target));
  }

  /// Throws `InputError` if an option is out of range.
  void validate() const {
    const Demand demand{"lora"};
    demand(rank >= 1, "rank", "must be at least 1");
    demand(std::isfinite(alpha) && alpha > 0, "alpha", "must be a number above 0");
    demand(dropout >= 0 && dropout < 1, "dropout", "must be at least 0 and below 1");
    demand(!targets.empty(), "targets", "must not be empty");
  }
};

/// The facts about an adapter in its `adapter_config.json`.
struct AdapterConfig {
  LoRA lora;                    ///< its targets are the names of linear layers
  std::string base = "";        ///< the model that is adapted: a place or a name
  std::string revision = "";    ///< the base's commit, tag or branch on the hub
  bool fan_in_fan_out = false;  ///< the adapted weights are [in, out] in the base's files
};

}  // namespace seqtrain::weights
