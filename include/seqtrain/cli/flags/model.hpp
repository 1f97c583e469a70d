#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/weights/lora.hpp>

namespace seqtrain::cli {

/// The flags about the model.
struct ModelFlags {
  static constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

  std::string model = "checkpoints/all-MiniLM-L6-v2";
  double dropout = not_given;
  bool ignore_mismatched_sizes = false;
  std::int64_t reinit_layers = 0;
  bool freeze_encoder = false;
  std::int64_t lora_rank = 0;
  double lora_alpha = 16;
  double lora_dropout = 0;
  std::vector<std::string> lora_target = {"all"};
  bool use_rslora = false;
  bool merge_adapter = false;

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Model")
        .add("model", model,
             "pre-trained checkpoint: a directory in Hugging Face's layout, an address such as "
             "gs://bucket/path, or a name on "
             "the hub, org/name[@revision]")
        .role(determines_results)
        .add("dropout", dropout,
             "dropout rate that replaces every rate of the model's configuration")
        .add_switch("ignore-mismatched-sizes", ignore_mismatched_sizes,
                    "initialise parameters that have other sizes in the checkpoint, such as the "
                    "head of a classifier with other labels")
        .add("reinit-layers", reinit_layers,
             "number of the encoder's last layers to initialise anew")
        .add_switch("freeze-encoder", freeze_encoder, "train only the classification head")
        .add("lora-rank", lora_rank,
             "train low-rank adapters of the encoder's linear layers, and the head, but no other "
             "parameters: their rank, such as 8 (0: no adapters)")
        .add("lora-alpha", lora_alpha, "factor of the adapters: alpha / rank")
        .add("lora-dropout", lora_dropout,
             "dropout rate of the adapters' inputs; 0.05 to 0.1 is usual")
        .add("lora-target", lora_target,
             "linear layers that get adapters: all, attention, or the ends of their names, such as "
             "query,value")
        .add_switch("use-rslora", use_rslora,
                    "the factor of the adapters is alpha divided by the root of the rank")
        .role(leaves_results_alone)
        .add_switch("merge-adapter", merge_adapter,
                    "save a whole model with the adapters merged into its weights, not the adapter "
                    "alone");
  }

  /// Returns the adapters to train, if there are any.
  [[nodiscard]] std::optional<weights::LoRA> lora() const {
    if (lora_rank == 0) return {};
    return weights::LoRA{.rank = lora_rank,
                         .alpha = lora_alpha,
                         .dropout = lora_dropout,
                         .rank_stabilised = use_rslora,
                         .targets = lora_target};
  }

  /// Returns the model to train if no flag names one: the default directory if it is here, else the
  /// same model's name on the hub.
  [[nodiscard]] static std::string default_model() {
    const std::string directory = ModelFlags{}.model;
    return std::filesystem::exists(directory) ? directory
                                              : "sentence-transformers/all-MiniLM-L6-v2";
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    require(!model.empty(), "model", "must not be empty");
    require(std::isnan(dropout) || (dropout >= 0 && dropout < 1), "dropout",
            "must be at least 0 and below 1");
    require(reinit_layers >= 0, "reinit-layers", "must not be negative");
    require(reinit_layers == 0 || (!freeze_encoder && lora_rank == 0), "reinit-layers",
            "needs an encoder that learns");
    require(lora_rank >= 0, "lora-rank", "must not be negative");
    require(std::isfinite(lora_alpha) && lora_alpha > 0, "lora-alpha", "must be a number above 0");
    require(lora_dropout >= 0 && lora_dropout < 1, "lora-dropout",
            "must be at least 0 and below 1");
    require(lora_rank == 0 || !freeze_encoder, "freeze-encoder", "does not go with --lora-rank");
    const bool plain =
        lora_alpha == 16 && lora_dropout == 0 && lora_target == ModelFlags{}.lora_target;
    require(lora_rank > 0 || (plain && !use_rslora && !merge_adapter), "lora-rank",
            "is needed for adapters, such as 8");
  }
};

}  // namespace seqtrain::cli
