#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include <seqtrain/cli/encode.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/loader.hpp>

namespace seqtrain::cli {

/// The flags of a program that labels texts.
struct PredictFlags {
  std::string model = "";
  std::int64_t batch_size = 32;
  std::int64_t max_length = 0;
  std::string text_field = "";
  std::string pair_field = "";
  std::string device = "auto";
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());

  /// Fills the members from a command line. Returns false if help was asked for.
  bool parse(int argc, const char* const* argv) {
    Flags flags{"predict", "labels texts: JSON lines on stdin, JSON lines on stdout"};
    flags.add("model", model, "fine-tuned model: a directory in Hugging Face's layout, or gs://")
        .add("batch-size", batch_size, "examples that are labelled together")
        .add("max-length", max_length, "ids an example may have (0: as many as the model takes)")
        .add("text-field", text_field, "field of the text (default: recognised)")
        .add("pair-field", pair_field, "field of the second text")
        .add("device", device, "auto, cpu or cuda")
        .add("threads", threads, "threads that compute");
    if (!flags.parse(argc, argv)) return false;
    require(!model.empty(), "model", "is needed: the directory of a fine-tuned model");
    require(batch_size >= 1, "batch-size", "must be at least 1");
    require(threads >= 1, "threads", "must be at least 1");
    return true;
  }

  [[nodiscard]] data::EncodeFileOptions encode_options(std::int64_t max_length_of_model) const {
    return {.read = {.text_field = text_field, .pair_field = pair_field, .labelled = false},
            .encode = {.max_length = example_length(max_length, max_length_of_model)},
            .workers = static_cast<std::size_t>(threads)};
  }

  [[nodiscard]] data::LoaderOptions batches() const {
    return {.plan = {.batch_size = static_cast<std::size_t>(batch_size)}};
  }
};

}  // namespace seqtrain::cli
