#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/load_awd_lstm.hpp>
#include <seqtrain/tensor/finite.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

/// A language model's parameters in files of fastai, whose rows belong to words.
namespace seqtrain::model::pretrained {

/// Returns for each word of one vocabulary its index in another, or -1 if it is not there.
inline std::vector<std::int64_t> places_of(const std::vector<std::string>& words,
                                           const std::vector<std::string>& known) {
  std::unordered_map<std::string_view, std::int64_t> places;
  for (std::size_t i = 0; i < known.size(); ++i) {
    places.emplace(known[i], static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> result;
  for (const auto& word : words) {
    const auto found = places.find(word);
    result.push_back(found == places.end() ? -1 : found->second);
  }
  return result;
}

/// Returns the rows of a matrix, or the elements of a vector, in another order. Row i of the result
/// is row `places[i]` of the tensor, or the mean of all rows if that is -1. `tensor` must have a
/// dimension and a row.
inline std::vector<float> rearranged_rows(const weights::TensorView& tensor,
                                          const std::vector<std::int64_t>& places) {
  const std::vector<float> numbers = weights::to_floats(tensor);
  const auto rows = static_cast<std::size_t>(tensor.shape.at(0));
  const std::size_t width = numbers.size() / rows;
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % width] += numbers[i];
  std::vector<float> result;
  result.reserve(places.size() * width);
  for (const std::int64_t place : places) {
    for (std::size_t i = 0; i < width; ++i) {
      result.push_back(place < 0 ? static_cast<float>(sums[i] / static_cast<double>(rows))
                                 : numbers[static_cast<std::size_t>(place) * width + i]);
    }
  }
  return result;
}

/// Tells whether a tensor of the file has a row for each word.
[[nodiscard]] inline bool has_a_row_a_word(const std::string& name) {
  return name == "0.encoder.weight" || name == "1.decoder.bias";
}

/// Throws `InputError` unless the file's tensor has the parameter's shape. A tensor with a row for
/// each word must have `words` rows instead of the parameter's number of rows.
inline void check_shape(const weights::FastaiFile& file, const weights::TensorView& stored,
                        const tensor::Parameter& parameter, std::size_t words) {
  std::vector<std::int64_t> expected = parameter.value.sizes().vec();
  const bool by_word = has_a_row_a_word(parameter.name);
  if (by_word && !stored.shape.empty() && stored.shape[0] != static_cast<std::int64_t>(words)) {
    throw InputError{"has " + std::to_string(stored.shape[0]) + " rows, the vocabulary " +
                         std::to_string(words) + " words",
                     {.object = file.path(), .field = parameter.name},
                     "give the list of words that the weights were trained with"};
  }
  if (!weights::is_floating(stored.dtype)) {
    throw InputError{
        "holds no floating-point numbers but " + std::string{weights::name(stored.dtype)},
        {.object = file.path(), .field = parameter.name}};
  }
  if (by_word) expected[0] = static_cast<std::int64_t>(words);
  if (stored.shape == expected && words > 0) return;
  throw InputError{"has shape " + weights::to_string(stored.shape) + ", the model " +
                       weights::to_string(expected),
                   {.object = file.path(), .field = parameter.name}};
}

/// Throws `InputError` that names the flag, or what is missing, unless the file's layers have the
/// sizes of the model's.
inline void check_layers(const weights::FastaiFile& file, const AwdLstmShape& shape) {
  const auto stored = awd_lstm_shape(file, "0.");
  const auto check = [&](const char* what, std::int64_t theirs, std::int64_t ours,
                         const std::string& advice) {
    if (theirs == ours) return;
    throw InputError{std::string{what} + " is " + std::to_string(theirs) + ", the model's " +
                         std::to_string(ours),
                     {.object = file.path()},
                     advice};
  };
  const char* const other_layout = "only a published layout has such models: see docs/languages.md";
  if (stored.qrnn != shape.qrnn) {
    throw InputError{stored.qrnn ? "has quasi-recurrent layers" : "has layers of an LSTM",
                     {.object = file.path()},
                     other_layout};
  }
  check("the size of its embeddings", stored.embedding, shape.embedding,
        "give --embedding " + std::to_string(stored.embedding));
  check("the number of its layers", stored.layers, shape.layers, other_layout);
  check("the size of its layers", stored.hidden, shape.hidden,
        "give --hidden " + std::to_string(stored.hidden));
}

/// Copies the weights of a language model over `words_of_file` to a model over `words`. Rows of
/// words that both have are copied; the others become the mean of all rows. A decoder without a
/// bias has one of zeros. Throws `InputError` if a tensor is missing or holds NaN, or the sizes do
/// not fit; some parameters may then have changed.
inline void load(LanguageModel& model, const std::vector<std::string>& words,
                 const weights::FastaiFile& file, const std::vector<std::string>& words_of_file) {
  const at::NoGradGuard no_gradients;
  if (words.size() != static_cast<std::size_t>(model.vocab_size())) {
    throw InputError{"has " + std::to_string(words.size()) + " words, the model's embedding " +
                         std::to_string(model.vocab_size()) + " rows",
                     {.object = "vocabulary"}};
  }
  check_layers(file, model.encoder().shape());
  const auto places = places_of(words, words_of_file);
  for (const auto& parameter : model.parameters()) {
    if (parameter.name == "1.decoder.bias" && !file.find(parameter.name)) {
      parameter.value.zero_();
      continue;
    }
    const weights::TensorView stored = file.at(parameter.name);
    check_shape(file, stored, parameter, words_of_file.size());
    const auto numbers = has_a_row_a_word(parameter.name) ? rearranged_rows(stored, places)
                                                          : weights::to_floats(stored);
    const at::Tensor host = at::empty(parameter.value.sizes(), at::kFloat);
    std::memcpy(host.mutable_data_ptr<float>(), numbers.data(), numbers.size() * sizeof(float));
    tensor::refuse_nan(host, file.path(), parameter.name);
    parameter.value.copy_(host);
  }
}

/// Writes a model's parameters and running statistics as a state_dict that fastai loads. Tensors
/// that fastai has under two names are written under both.
template <class M>
void save_for_fastai(const std::filesystem::path& path, const M& model) {
  const auto state = model.state_dict();
  std::vector<weights::TensorView> tensors;
  const auto add = [&tensors](weights::TensorView tensor, std::string name) {
    tensor.name = std::move(name);
    tensors.push_back(std::move(tensor));
  };
  for (const auto& tensor : state.views()) {
    if (tensor.name.starts_with("carried.")) continue;
    tensors.push_back(tensor);
    constexpr std::string_view ending = "encoder.weight";
    if (!tensor.name.ends_with(ending)) continue;
    add(tensor,
        tensor.name.substr(0, tensor.name.size() - ending.size()) + "encoder_dp.emb.weight");
    if (tensor.name == "0.encoder.weight") add(tensor, "1.decoder.weight");
  }
  weights::write_torch_file(path, tensors);
}

}  // namespace seqtrain::model::pretrained
