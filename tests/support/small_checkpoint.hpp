#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

/// The first 64 channels of the default checkpoint's first two layers, with its tokenizer: a BERT
/// that programs train in a fraction of the time.
class SmallCheckpoint {
 public:
  SmallCheckpoint() {
    for (const char* name :
         {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"}) {
      std::filesystem::copy_file(default_checkpoint() / name, directory_ / name);
    }
    write_file(directory_ / "config.json", R"({"model_type": "bert", "hidden_size": 64,
      "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
      "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
      "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522,
      "layer_norm_eps": 1e-12, "pad_token_id": 0})");
    const weights::WeightsFolder whole{default_checkpoint()};
    std::vector<weights::TensorView> tensors;
    std::vector<std::vector<std::byte>> bytes;
    for (const auto& name : whole.names()) {
      const bool is_of_later_layer = std::ranges::any_of(std::string{"2345"}, [&](char layer) {
        return name.find(std::string{"layer."} + layer) != std::string::npos;
      });
      if (is_of_later_layer) continue;
      weights::TensorView tensor = *whole.find(name);
      bytes.push_back(cut(tensor));
      tensors.push_back(tensor);
      tensors.back().bytes = bytes.back();
    }
    weights::write_safetensors(directory_ / "model.safetensors", tensors);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  /// Returns the bytes of the tensor's first rows and columns, and changes its shape to theirs.
  static std::vector<std::byte> cut(weights::TensorView& tensor) {
    const std::size_t element = weights::size_of(tensor.dtype);
    const auto row = static_cast<std::size_t>(tensor.shape.back()) * element;
    for (std::int64_t& size : tensor.shape) {
      const std::map<std::int64_t, std::int64_t> smaller{{384, 64}, {1536, 128}};
      if (const auto found = smaller.find(size); found != smaller.end()) size = found->second;
    }
    const auto rows = tensor.shape.size() == 1 ? 1 : static_cast<std::size_t>(tensor.shape[0]);
    const auto kept = static_cast<std::size_t>(tensor.shape.back()) * element;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto part = tensor.bytes.subspan(i * row, kept);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return bytes;
  }

  TemporaryDirectory directory_;
};

/// Returns the folder of a small checkpoint, which exists until the tests end.
inline const std::filesystem::path& small_checkpoint() {
  static const SmallCheckpoint checkpoint;
  return checkpoint.path();
}

}  // namespace seqtrain::tests
