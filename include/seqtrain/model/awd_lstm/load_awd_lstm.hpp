#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/tensor/finite.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

/// Returns the names of a classifier's labels in the order of the `performance.json` beside it, or
/// LABEL_0, LABEL_1, … if there is no such file. Throws `InputError` if the file does not have
/// `count` names.
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

/// The description of an AWD-LSTM classifier in `description.json`. The program `languages` writes
/// this file if the model is not named `model.pth`.
struct AwdLstmDescription {
  std::string model = "model.pth";
  std::vector<std::string> labels = {};  ///< empty: see `labels_of_performance`
  ProblemType problem_type = ProblemType::single_label;
  std::int64_t max_length = 512;  ///< ids that the classifier reads of a text
  bool backwards = false;         ///< it reads texts from the end

  /// Reads a directory's description; one without a `description.json` has the defaults. Throws
  /// `InputError` if a member of the file is missing or wrong.
  [[nodiscard]] static AwdLstmDescription load(const std::filesystem::path& directory) {
    AwdLstmDescription result;
    const auto file = directory / "description.json";
    if (!std::filesystem::exists(file)) return result;
    const auto document = json::Document::load(file);
    const auto root = document.root();
    result.model = std::string{root.at("model").string()};
    for (const auto& label : root.at("labels").items()) result.labels.emplace_back(label.string());
    const auto type = problem_type_named(root.at("problem_type").string());
    if (!type) throw root.at("problem_type").error("is unknown");
    result.problem_type = *type;
    result.max_length = root.at("max_length").integer();
    if (result.max_length < 1) throw root.at("max_length").error("must be at least 1");
    result.backwards = root.at("backwards").boolean();
    return result;
  }
};

namespace detail {

/// Returns a tensor's size in a dimension. Throws `InputError` if the tensor has fewer dimensions.
inline std::int64_t size_in(const weights::FastaiFile& file, std::string_view name,
                            std::size_t dimension) {
  const auto tensor = file.at(name);
  if (dimension < tensor.shape.size()) return tensor.shape[dimension];
  throw InputError{"has shape " + weights::to_string(tensor.shape),
                   {.object = file.path(), .field = std::string{name}}};
}

/// Returns the file's tensor of the same name. Throws `InputError` if it has another type or shape.
inline weights::TensorView equal_in_form(const weights::FastaiFile& file,
                                         const weights::TensorView& expected) {
  weights::TensorView tensor = file.at(expected.name);
  tensor.name = expected.name;
  if (tensor.dtype == expected.dtype && tensor.shape == expected.shape) return tensor;
  throw InputError{"is a tensor of " + std::string{weights::name(tensor.dtype)} + " and shape " +
                       weights::to_string(tensor.shape) + ", expected " +
                       weights::to_string(expected.shape) + " of " +
                       std::string{weights::name(expected.dtype)},
                   {.object = file.path(), .field = expected.name}};
}

}  // namespace detail

/// Returns the sizes of a model from the shapes of its tensors. `prefix` begins the names of the
/// encoder's tensors: `0.module.` in a classifier's file, `0.` in a language model's. Throws
/// `InputError` if there is no embedding, or if a tensor has too few dimensions.
[[nodiscard]] inline AwdLstmShape awd_lstm_shape(const weights::FastaiFile& file,
                                                 const std::string& prefix) {
  AwdLstmShape shape{.embedding = detail::size_in(file, prefix + "encoder.weight", 1), .layers = 0};
  const auto layer = [&] { return prefix + "rnns." + std::to_string(shape.layers) + "."; };
  shape.qrnn = file.find(layer() + "layers.0.linear.module.bias").has_value();
  const std::string_view name = shape.qrnn ? "layers.0.linear.module.bias" : "module.bias_ih_l0";
  while (file.find(layer() + std::string{name})) {
    if (shape.layers == 0) {
      shape.hidden = detail::size_in(file, layer() + std::string{name}, 0) / (shape.qrnn ? 3 : 4);
    }
    ++shape.layers;
  }
  return shape;
}

/// Loads the classifier in a directory that the program `languages` has written with ULMFiT. The
/// weights are in fastai's layout, in `model.pth` or in the file that `description.json` names. The
/// names of the labels are in `description.json` or in `performance.json`. All parameters are
/// frozen. Throws `InputError` if a tensor is missing or holds NaN, if the sizes do not fit
/// together, or if the model has no backend for this precision.
[[nodiscard]] inline AwdLstmClassifier load_awd_lstm(const std::filesystem::path& directory,
                                                     std::int64_t padding_id, c10::Device device,
                                                     Precision precision) {
  const auto description = AwdLstmDescription::load(directory);
  const weights::FastaiFile file{directory / description.model};
  const auto count = detail::size_in(file, "1.layers.1.2.weight", 0);
  auto labels = description.labels;
  if (labels.empty()) labels = labels_of_performance(directory, static_cast<std::size_t>(count));
  if (labels.size() != static_cast<std::size_t>(count)) {
    throw InputError{
        "has " + std::to_string(labels.size()) + " labels, the model " + std::to_string(count),
        {.object = (directory / "description.json").string(), .field = "labels"}};
  }
  AwdLstmClassifier classifier{detail::size_in(file, "0.module.encoder.weight", 0),
                               {.labels = std::move(labels),
                                .problem_type = description.problem_type,
                                .shape = awd_lstm_shape(file, "0.module."),
                                .head_hidden = detail::size_in(file, "1.layers.0.2.weight", 0),
                                .padding_id = padding_id,
                                .device = device,
                                .backend = {.precision = precision}}};
  classifier.train_last(0);
  std::vector<weights::TensorView> tensors;
  const auto wanted = classifier.state_dict();
  for (const auto& tensor : wanted.views()) {
    tensors.push_back(detail::equal_in_form(file, tensor));
    if (!weights::is_floating(tensors.back().dtype)) continue;
    auto numbers = weights::to_floats(tensors.back());
    const auto size = static_cast<std::int64_t>(numbers.size());
    tensor::refuse_nan(at::from_blob(numbers.data(), {size}, at::kFloat), file.path(), tensor.name);
  }
  classifier.load_state_dict(tensors);
  file.check_unchanged();
  return classifier;
}

}  // namespace seqtrain::model
