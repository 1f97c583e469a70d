#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/weights/safetensors.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

/// The shape of a made-up encoder. The processor has kernels for its sizes.
struct MadeModel {
  std::string family = "bert";
  std::string activation = "gelu";
  std::int64_t layers = 2;
  std::int64_t hidden = 64;
  std::int64_t heads = 4;
  std::int64_t inner = 128;
};

/// A checkpoint with numbers from a fixed stream, as a directory in Hugging Face's layout.
class MadeCheckpoint {
 public:
  static constexpr std::int64_t vocab_size = 120;
  static constexpr std::int64_t positions = 80;

  explicit MadeCheckpoint(const MadeModel& model = {}) : model_{model} {
    write_config();
    const std::string prefix = this->prefix() + ".";
    add_norm(prefix + "embeddings.LayerNorm");
    add(prefix + "embeddings.word_embeddings.weight", {vocab_size, model.hidden});
    add(prefix + "embeddings.position_embeddings.weight", {positions, model.hidden});
    if (!is_distilbert()) {
      add(prefix + "embeddings.token_type_embeddings.weight", {2, model.hidden});
    }
    for (std::int64_t i = 0; i < model.layers; ++i) {
      const std::string layer = is_distilbert() ? "transformer.layer." : "encoder.layer.";
      add_layer(prefix + layer + std::to_string(i) + ".");
    }
    if (model.family == "bert") add_linear(prefix + "pooler.dense", model.hidden, model.hidden);
    weights::write_safetensors(directory_ / "model.safetensors", views());
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

  /// The first word of the names of the encoder's tensors.
  [[nodiscard]] std::string prefix() const {
    return model_.family == "xlm-roberta" || model_.family == "camembert" ? "roberta"
                                                                          : model_.family;
  }

  /// A batch of rows of 1 to 60 tokens, among them one of several groups' size and padding ids
  /// written in the text.
  static data::Batch batch(std::int64_t index, std::int64_t rows = 13) {
    const random::Stream stream{77, random::Purpose::data, static_cast<std::uint64_t>(index)};
    data::Batch batch;
    batch.index = index;
    batch.rows = rows;
    batch.width = 60;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto place = static_cast<std::uint64_t>(row) * 100;
      const auto length = static_cast<std::int32_t>(row == 0 ? 60 : 1 + stream.at(place) % 60);
      batch.lengths.push_back(length);
      batch.labels.push_back(row % 3);
      batch.row_ids.push_back(row);
      for (std::int32_t i = 0; i < batch.width; ++i) {
        const auto id = static_cast<std::int32_t>(
            stream.at(place + static_cast<std::uint64_t>(i) + 1) % vocab_size);
        batch.input_ids.push_back(i < length ? id : 1);
        batch.token_type_ids.push_back(i < length && i > length / 2 ? 1 : 0);
      }
    }
    return batch;
  }

 private:
  struct Made {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> numbers;
  };

  [[nodiscard]] bool is_distilbert() const { return model_.family == "distilbert"; }

  /// Keys of all families; a family passes over those of the others.
  void write_config() const {
    write_file(
        directory_ / "config.json",
        R"({"model_type": ")" + model_.family + R"(", "hidden_act": ")" + model_.activation +
            R"(", "hidden_size": )" + std::to_string(model_.hidden) + R"(, "num_hidden_layers": )" +
            std::to_string(model_.layers) + R"(, "num_attention_heads": )" +
            std::to_string(model_.heads) + R"(, "intermediate_size": )" +
            std::to_string(model_.inner) + R"(, "dim": )" + std::to_string(model_.hidden) +
            R"(, "n_layers": )" + std::to_string(model_.layers) + R"(, "n_heads": )" +
            std::to_string(model_.heads) + R"(, "hidden_dim": )" + std::to_string(model_.inner) +
            R"(, "activation": ")" + model_.activation + R"(", "embedding_size": )" +
            std::to_string(model_.hidden) + R"(, "vocab_size": )" + std::to_string(vocab_size) +
            R"(, "max_position_embeddings": )" + std::to_string(positions) +
            R"(, "type_vocab_size": 2, "pad_token_id": 1, "id2label":)"
            R"( {"0": "a", "1": "b", "2": "c"}})");
  }

  void add(const std::string& name, std::vector<std::int64_t> shape, float mean = 0,
           float range = 0.2F) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    const random::Stream stream{5, random::Purpose::data, tensors_.size()};
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = mean + range * (2 * random::to_float(stream.at(i)) - 1);
    }
    tensors_.push_back({name, std::move(shape), std::move(numbers)});
  }

  void add_linear(const std::string& name, std::int64_t in, std::int64_t out) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }

  void add_norm(const std::string& name) {
    add(name + ".weight", {model_.hidden}, 1);
    add(name + ".bias", {model_.hidden});
  }

  void add_layer(const std::string& name) {
    if (is_distilbert()) return add_distilbert_layer(name);
    for (const char* part : {"query", "key", "value"}) {
      add_linear(name + "attention.self." + part, model_.hidden, model_.hidden);
    }
    add_linear(name + "attention.output.dense", model_.hidden, model_.hidden);
    add_norm(name + "attention.output.LayerNorm");
    add_linear(name + "intermediate.dense", model_.hidden, model_.inner);
    add_linear(name + "output.dense", model_.inner, model_.hidden);
    add_norm(name + "output.LayerNorm");
  }

  void add_distilbert_layer(const std::string& name) {
    for (const char* part : {"q_lin", "k_lin", "v_lin", "out_lin"}) {
      add_linear(name + "attention." + part, model_.hidden, model_.hidden);
    }
    add_norm(name + "sa_layer_norm");
    add_linear(name + "ffn.lin1", model_.hidden, model_.inner);
    add_linear(name + "ffn.lin2", model_.inner, model_.hidden);
    add_norm(name + "output_layer_norm");
  }

  [[nodiscard]] std::vector<weights::TensorView> views() const {
    std::vector<weights::TensorView> result;
    for (const Made& tensor : tensors_) {
      result.push_back({.name = tensor.name,
                        .dtype = weights::DType::f32,
                        .shape = tensor.shape,
                        .bytes = std::as_bytes(std::span{tensor.numbers})});
    }
    return result;
  }

  MadeModel model_;
  TemporaryDirectory directory_;
  std::vector<Made> tensors_;
};

}  // namespace seqtrain::tests
