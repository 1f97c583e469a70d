#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/model/awd_lstm_classifier.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// Returns the names of a classifier's labels as the `performance.json` beside it has them, in
/// order; LABEL_0, LABEL_1, … if there is no such file. Throws `InputError` if there are not
/// `count` of them.
[[nodiscard]] inline std::vector<std::string> labels_of_performance(
    const std::filesystem::path& directory, std::size_t count) {
  const auto file = directory / "performance.json";
  std::vector<std::string> labels;
  if (!std::filesystem::exists(file)) {
    for (std::size_t id = 0; id < count; ++id) labels.push_back("LABEL_" + std::to_string(id));
    return labels;
  }
  const auto document = json::Document::load(file);
  const auto known = document.root().at("labels");
  for (const auto& [name, scores] : known.members()) labels.emplace_back(name);
  if (labels.size() == count) return labels;
  throw known.error("has " + std::to_string(labels.size()) + " labels, the model " +
                    std::to_string(count));
}

namespace detail {

/// Returns a tensor's size in a dimension. Throws `InputError` if it has not as many dimensions.
inline std::int64_t size_in(const weights::FastaiFile& file, std::string_view name,
                            std::size_t dimension) {
  const auto tensor = file.at(name);
  if (dimension < tensor.shape.size()) return tensor.shape[dimension];
  throw InputError{"has shape " + weights::to_string(tensor.shape),
                   {.object = file.path(), .field = std::string{name}}};
}

/// Reads a model's sizes off the shapes of its tensors.
inline AwdLstmShape awd_lstm_shape(const weights::FastaiFile& file) {
  AwdLstmShape shape{.embedding = size_in(file, "0.module.encoder.weight", 1), .layers = 0};
  const auto layer = [&] { return "0.module.rnns." + std::to_string(shape.layers) + "."; };
  shape.qrnn = file.find(layer() + "layers.0.linear.module.bias").has_value();
  const std::string_view name = shape.qrnn ? "layers.0.linear.module.bias" : "module.bias_ih_l0";
  while (file.find(layer() + std::string{name})) {
    if (shape.layers == 0) {
      shape.hidden = size_in(file, layer() + std::string{name}, 0) / (shape.qrnn ? 3 : 4);
    }
    ++shape.layers;
  }
  return shape;
}

}  // namespace detail

/// Returns the classifier in a directory as the program `languages` leaves it with ULMFiT:
/// `model.pth` in fastai's layout, and `performance.json`, which names the labels. Nothing of it is
/// trainable. Throws `InputError` if a tensor is missing or the sizes do not fit together.
[[nodiscard]] inline AwdLstmClassifier load_awd_lstm(const std::filesystem::path& directory,
                                                     std::int64_t padding_id, c10::Device device) {
  const weights::FastaiFile file{directory / "model.pth"};
  const auto count = detail::size_in(file, "1.layers.1.2.weight", 0);
  AwdLstmClassifier classifier{
      detail::size_in(file, "0.module.encoder.weight", 0),
      {.labels = labels_of_performance(directory, static_cast<std::size_t>(count)),
       .shape = detail::awd_lstm_shape(file),
       .head_hidden = detail::size_in(file, "1.layers.0.2.weight", 0),
       .padding_id = padding_id,
       .device = device}};
  classifier.train_last(0);
  std::vector<weights::TensorView> tensors;
  const auto wanted = classifier.state_dict();
  for (const auto& tensor : wanted.views()) {
    tensors.push_back(file.at(tensor.name));
    tensors.back().name = tensor.name;
  }
  classifier.load_state_dict(tensors);
  return classifier;
}

}  // namespace seqtrain::model
