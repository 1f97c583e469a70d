#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/data/batch.hpp>

namespace seqtrain::bench {

/// The size of an encoder, as far as the number of its operations depends on it.
struct Shape {
  std::string name;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t inner;
  std::int64_t vocab_size = 30'522;
  std::int64_t labels = 3;
  std::int64_t embedding = 0;     ///< size of embeddings that are projected, or 0
  bool gated = false;             ///< the feed-forward network has a second map of hidden states
  bool mean_pooling = false;      ///< the last layer computes all tokens, not only the first
  std::int64_t window = 0;        ///< a token's window in the layers that have one
  std::int64_t global_every = 1;  ///< one layer of so many has no window
  std::int64_t terms_of_distances = 0;  ///< terms of a score that depend on the distance
  std::int64_t distances = 0;           ///< the greatest number of distances that differ
};

/// Returns the shape of a checkpoint's encoder, from its config.json.
inline Shape shape_of(const std::filesystem::path& directory) {
  const auto document = json::Document::load(directory / "config.json");
  const json::Value root = document.root();
  const auto number = [&](std::string_view key, std::string_view other, std::int64_t absent) {
    auto value = root.find(key);
    if (!value) value = root.find(other);
    return value ? value->integer() : absent;
  };
  Shape shape{.name = directory.filename().string(),
              .layers = number("num_hidden_layers", "n_layers", 0),
              .hidden = number("hidden_size", "dim", 0),
              .heads = number("num_attention_heads", "n_heads", 0),
              .inner = number("intermediate_size", "hidden_dim", 0),
              .vocab_size = number("vocab_size", "", 0)};
  const auto names = root.find("id2label");
  shape.labels =
      names ? static_cast<std::int64_t>(names->members().size()) : number("num_labels", "", 2);
  const std::int64_t embedding = number("embedding_size", "", shape.hidden);
  if (embedding != shape.hidden) shape.embedding = embedding;
  const auto type = root.find("model_type");
  if (type && type->string() == "modernbert") {
    const auto pooling = root.find("classifier_pooling");
    shape.gated = true;
    shape.mean_pooling = pooling && pooling->string() == "mean";
    shape.window = number("local_attention", "", 128) + 1;
    shape.global_every = number("global_attn_every_n_layers", "", 3);
  } else if (type && type->string() == "deberta-v2") {
    shape.terms_of_distances = 2;
    shape.distances = 2 * number("position_buckets", "", 256);
  }
  return shape;
}

/// Returns the floating-point operations in the products that the logits of a batch need. They
/// count tokens without padding, and in the last layer after its keys and values only the first
/// tokens if the head takes no others. Training needs three times as many.
inline double operations(const Shape& shape, const data::Batch& batch) {
  const auto h = static_cast<double>(shape.hidden);
  const double weights = h * h + (shape.gated ? 3 : 2) * h * static_cast<double>(shape.inner);
  const auto tokens = static_cast<double>(batch.tokens());
  const auto rows = static_cast<double>(batch.rows);
  double all_pairs = 0, near_pairs = 0, longest = 0;
  for (const double length : batch.lengths) {
    all_pairs += length * length;
    near_pairs += length * std::min(length, static_cast<double>(shape.window));
    longest = std::max(longest, length);
  }
  const double scores = 2 + static_cast<double>(shape.terms_of_distances);
  const double distances = 2 * std::min(2 * longest, static_cast<double>(shape.distances));
  double total = rows * h * h + tokens * static_cast<double>(shape.embedding) * h;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const double pairs = i % shape.global_every == 0 ? all_pairs : near_pairs;
    const bool all = i + 1 < shape.layers || shape.mean_pooling;
    total += (tokens * 3 + distances) * h * h;
    total += all ? tokens * weights + scores * pairs * h : rows * weights + scores * tokens * h;
  }
  return 2 * total;
}

}  // namespace seqtrain::bench
