#pragma once

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/require.hpp>

namespace seqtrain::cli {

/// The flags about the model.
struct ModelFlags {
  static constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

  std::string model = "checkpoints/all-MiniLM-L6-v2";
  double dropout = not_given;
  bool ignore_mismatched_sizes = false;
  bool freeze_encoder = false;

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Model")
        .add("model", model,
             "pre-trained checkpoint: a directory in Hugging Face's layout, gs://, or a name on "
             "the hub, org/name[@revision]")
        .add("dropout", dropout,
             "dropout rate that replaces every rate of the model's configuration",
             determines_results)
        .add_switch("ignore-mismatched-sizes", ignore_mismatched_sizes,
                    "initialise parameters that have other sizes in the checkpoint, such as the "
                    "head of a classifier with other labels",
                    determines_results)
        .add_switch("freeze-encoder", freeze_encoder, "train only the classification head",
                    determines_results);
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
  }
};

}  // namespace seqtrain::cli
