#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stdlib.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/weights/safetensors.hpp>

#include "shape.hpp"

namespace seqtrain::bench {

/// A BERT of a given shape with made-up weights, in a directory that the destructor removes. The
/// time of a step does not depend on the weights.
class MadeModel {
 public:
  explicit MadeModel(const Shape& shape) : shape_{shape} {
    std::string name = (std::filesystem::temp_directory_path() / "seqtrain-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
    directory_ = name;
    write_config();
    write_weights();
  }
  MadeModel(const MadeModel&) = delete;
  MadeModel& operator=(const MadeModel&) = delete;
  ~MadeModel() { std::filesystem::remove_all(directory_); }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_; }

 private:
  struct Made {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> numbers;
  };

  void write_config() const {
    const auto field = [](const char* name, std::int64_t value) {
      return std::string{", \""} + name + "\": " + std::to_string(value);
    };
    std::ofstream{directory_ / "config.json"}
        << R"({"model_type": "bert", "id2label": {"0": "a", "1": "b", "2": "c"})"
        << field("hidden_size", shape_.hidden) << field("num_hidden_layers", shape_.layers)
        << field("num_attention_heads", shape_.heads) << field("intermediate_size", shape_.inner)
        << field("vocab_size", shape_.vocab_size) << field("max_position_embeddings", 512) << "}";
  }

  void write_weights() {
    const std::int64_t h = shape_.hidden;
    add("bert.embeddings.word_embeddings.weight", {shape_.vocab_size, h}, h);
    add("bert.embeddings.position_embeddings.weight", {512, h}, h);
    add("bert.embeddings.token_type_embeddings.weight", {2, h}, h);
    add_norm("bert.embeddings.LayerNorm");
    for (std::int64_t i = 0; i < shape_.layers; ++i) {
      const std::string layer = "bert.encoder.layer." + std::to_string(i) + ".";
      for (const char* part : {"query", "key", "value"}) {
        add_linear(layer + "attention.self." + part, h, h);
      }
      add_linear(layer + "attention.output.dense", h, h);
      add_norm(layer + "attention.output.LayerNorm");
      add_linear(layer + "intermediate.dense", h, shape_.inner);
      add_linear(layer + "output.dense", shape_.inner, h);
      add_norm(layer + "output.LayerNorm");
    }
    add_linear("bert.pooler.dense", h, h);
    std::vector<weights::TensorView> views;
    for (const Made& made : tensors_) {
      views.push_back({.name = made.name,
                       .dtype = weights::DType::f32,
                       .shape = made.shape,
                       .bytes = std::as_bytes(std::span{made.numbers})});
    }
    weights::write_safetensors(directory_ / "model.safetensors", views);
    tensors_.clear();
  }

  /// Adds uniform numbers of variance 1 / (2 fan_in), with which activations keep about their size.
  void add(const std::string& name, std::vector<std::int64_t> shape, std::int64_t fan_in) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    const float range = std::sqrt(6.0F / static_cast<float>(fan_in));
    const random::Stream stream{1, random::Purpose::data, tensors_.size()};
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = range * (random::to_float(stream.at(i)) - 0.5F);
    }
    tensors_.push_back({name, std::move(shape), std::move(numbers)});
  }

  void add_linear(const std::string& name, std::int64_t in, std::int64_t out) {
    add(name + ".weight", {out, in}, in);
    tensors_.push_back({name + ".bias", {out}, std::vector<float>(static_cast<std::size_t>(out))});
  }

  void add_norm(const std::string& name) {
    const auto size = static_cast<std::size_t>(shape_.hidden);
    tensors_.push_back({name + ".weight", {shape_.hidden}, std::vector<float>(size, 1.0F)});
    tensors_.push_back({name + ".bias", {shape_.hidden}, std::vector<float>(size)});
  }

  Shape shape_;
  std::filesystem::path directory_;
  std::vector<Made> tensors_;
};

}  // namespace seqtrain::bench
