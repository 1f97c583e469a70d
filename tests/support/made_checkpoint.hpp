#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/families.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/weights_folder.hpp>

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
  std::string more = "";  ///< of config.json's text, such as R"("embedding_size": 128)"
};

/// A checkpoint with numbers from a fixed stream, as a directory in Hugging Face's layout.
class MadeCheckpoint {
 public:
  static constexpr std::int64_t vocab_size = 120;
  static constexpr std::int64_t positions = 80;

  explicit MadeCheckpoint(const MadeModel& model = {}) {
    write_config(model);
    // The family's own encoder tells the names and shapes of its parameters.
    const std::vector<float> nothing{0};
    write({{"nothing", weights::DType::f32, {1}, std::as_bytes(std::span{nothing})}});
    const weights::WeightsFolder empty{path()};
    const weights::ConfigFile file{empty.config_file()};
    model::Architectures::visit(file, [&]<class Family>() {
      prefix_ = std::string{Family::prefix};
      model::ParameterMaker maker{empty, {.prefix = Family::prefix, .seed = 5, .device = at::kCPU}};
      const typename Family::Encoder encoder{model::Scope{maker, prefix_, {}},
                                             Family::read_config(file)};
      write_parameters(maker.parameters());
    });
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

  /// Returns the first word of the names of the encoder's tensors.
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

  /// Returns a batch of rows of 1 to 60 tokens. One row is as long as several groups, and some
  /// texts contain padding ids.
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
  /// Writes the keys of all families. A family ignores the keys of the others.
  void write_config(const MadeModel& model) const {
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    std::string text = R"({"model_type": ")" + model.family + "\"";
    const auto add = [&](const char* key, const std::string& value) {
      text += std::string{", \""} + key + "\": " + value;
    };
    for (const char* key :
         {"hidden_act", "activation", "hidden_activation", "activation_function"}) {
      add(key, "\"" + model.activation + "\"");
    }
    for (const char* key : {"hidden_size", "dim"}) add(key, number(model.hidden));
    for (const char* key : {"num_hidden_layers", "n_layers"}) add(key, number(model.layers));
    for (const char* key : {"num_attention_heads", "n_heads"}) add(key, number(model.heads));
    for (const char* key : {"intermediate_size", "hidden_dim", "n_inner"}) {
      add(key, number(model.inner));
    }
    if (model.more.find("embedding_size") == std::string::npos) {
      add("embedding_size", number(model.hidden));
    }
    add("vocab_size", number(vocab_size));
    add("max_position_embeddings", number(positions));
    add("type_vocab_size", "2");
    add("pad_token_id", "1");
    add("id2label", R"({"0": "a", "1": "b", "2": "c"})");
    if (!model.more.empty()) text += ", " + model.more;
    write_file(directory_ / "config.json", text + "}");
  }

  void write_parameters(const std::vector<tensor::Parameter>& parameters) const {
    std::vector<weights::TensorView> views;
    std::uint64_t index = 0;
    for (const auto& parameter : parameters) {
      const bool is_scale = parameter.value.dim() == 1 && parameter.name.ends_with("weight");
      const at::Tensor value = parameter.value.detach();
      const std::span numbers{value.mutable_data_ptr<float>(),
                              static_cast<std::size_t>(value.numel())};
      const random::Stream stream{5, random::Purpose::data, index++};
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = (is_scale ? 1.0F : 0.0F) + 0.2F * (2 * random::to_float(stream.at(i)) - 1);
      }
      views.push_back({parameter.name, weights::DType::f32, value.sizes().vec(),
                       std::as_bytes(std::span<const float>{numbers})});
    }
    write(views);
  }

  void write(const std::vector<weights::TensorView>& views) const {
    weights::write_safetensors(directory_ / "model.safetensors", views);
  }

  TemporaryDirectory directory_;
  std::string prefix_;
};

}  // namespace seqtrain::tests
