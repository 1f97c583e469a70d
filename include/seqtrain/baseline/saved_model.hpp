#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/baseline/tfidf.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::baseline {

/// The `model_type` in the config.json of a saved `Model`.
inline constexpr std::string_view model_type = "seqtrain-tfidf";

/// A model that was read, with the names of its labels.
struct SavedModel {
  Model model;
  std::vector<std::string> labels;
};

namespace detail {

/// The names of a saved model's tensors. A row of `weights` belongs to the term in the same place
/// of `terms`, which are in ascending order.
inline constexpr std::string_view terms_name = "terms";        // I64 [terms], the bits of a `Term`
inline constexpr std::string_view idf_name = "idf";            // F32 [terms]
inline constexpr std::string_view weights_name = "weights";    // F32 [terms, outputs]
inline constexpr std::string_view bias_name = "bias";          // F32 [outputs]
inline constexpr std::string_view majority_name = "majority";  // F32 [labels]

template <class T>
weights::TensorView view_of(std::string_view name, weights::DType dtype, const std::vector<T>& all,
                            std::vector<std::int64_t> shape) {
  return {.name = std::string{name},
          .dtype = dtype,
          .shape = std::move(shape),
          .bytes = std::as_bytes(std::span{all})};
}

/// Reads the tensors of a saved model's file, and checks each of them.
class SavedTensors {
 public:
  explicit SavedTensors(const std::filesystem::path& path) : file_{path}, name_{path.string()} {}

  /// Returns the numbers of a tensor, whose shape must be `shape`.
  [[nodiscard]] std::vector<float> floats(std::string_view name,
                                          const std::vector<std::int64_t>& shape) const {
    const auto& tensor = find(name, weights::DType::f32);
    if (tensor.shape != shape) {
      throw error("has the shape " + weights::to_string(tensor.shape) + ", not " +
                      weights::to_string(shape),
                  name);
    }
    auto numbers = weights::to_floats(tensor);
    if (std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) {
      return numbers;
    }
    throw error("has a number that is not finite", name);
  }

  /// Returns the terms.
  [[nodiscard]] std::vector<Term> terms() const {
    const auto& tensor = find(terms_name, weights::DType::i64);
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
    if (tensor.shape.size() != 1) {
      throw error("has the shape " + weights::to_string(tensor.shape), terms_name);
    }
    std::vector<Term> terms(tensor.bytes.size() / sizeof(Term));
    if (terms.empty()) throw error("is empty: the model knows no term", terms_name);
    if (terms.size() >= most) throw error("has too many terms", terms_name);
    std::memcpy(terms.data(), tensor.bytes.data(), tensor.bytes.size());
    if (std::ranges::adjacent_find(terms, std::greater_equal{}) == terms.end()) return terms;
    throw error("is not in ascending order", terms_name);
  }

  /// Throws `Error` if the file has changed since it was opened.
  void check_unchanged() const { file_.check_unchanged(); }

 private:
  [[nodiscard]] const weights::TensorView& find(std::string_view name, weights::DType dtype) const {
    const auto found = std::ranges::find(file_.tensors(), name, &weights::TensorView::name);
    if (found == file_.tensors().end()) throw error("is missing", name);
    if (found->dtype == dtype) return *found;
    throw error("is of " + std::string{weights::name(found->dtype)} + ", not of " +
                    std::string{weights::name(dtype)},
                name);
  }

  [[nodiscard]] InputError error(const std::string& problem, std::string_view name) const {
    return InputError{problem, {.object = name_, .field = std::string{name}}};
  }

  weights::SafetensorsFile file_;
  std::string name_;
};

/// Returns the lengths of sequences in a config.json.
inline TermOptions term_options_in(const json::Value& root) {
  constexpr std::int64_t longest = 16;
  const auto object = root.at("terms");
  const auto length = [&](std::string_view key, std::int64_t least) {
    const auto value = object.at(key);
    const std::int64_t number = value.integer();
    if (number >= least && number <= longest) return static_cast<std::size_t>(number);
    throw value.error("must be " + std::to_string(least) + " to " + std::to_string(longest));
  };
  TermOptions options{.most_words = length("most_words", 1),
                      .fewest_characters = length("fewest_characters", 1)};
  options.most_characters =
      length("most_characters", static_cast<std::int64_t>(options.fewest_characters));
  return options;
}

}  // namespace detail

/// Tells whether a directory holds a model that `save` has written, by its config.json. Throws
/// `InputError` if that is not JSON.
[[nodiscard]] inline bool is_saved_model(const std::filesystem::path& directory) {
  const auto file = directory / "config.json";
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return false;
  const weights::ConfigFile config{file};
  const auto type = config.root().find("model_type");
  return type && type->is_string() && type->string() == model_type;
}

/// Writes a model to a directory: config.json with the names of its labels, and model.safetensors.
/// Each file appears whole or not at all. Throws `InputError` if names repeat.
inline void save(const Model& model, std::span<const std::string> labels,
                 const std::filesystem::path& directory) {
  using weights::DType;
  const std::size_t outputs = model.linear().bias.size();
  std::vector<Term> terms;
  std::vector<float> idf, rows;
  for (const KnownTerm& known : model.tfidf().terms()) {
    terms.push_back(known.term);
    idf.push_back(known.weight);
    const float* const row = model.linear().weights.data() + known.column * outputs;
    rows.insert(rows.end(), row, row + outputs);
  }
  const std::vector<float> majority(model.majority().begin(), model.majority().end());
  const auto count = static_cast<std::int64_t>(terms.size());
  const auto width = static_cast<std::int64_t>(outputs);
  const std::vector<weights::TensorView> tensors{
      detail::view_of(detail::terms_name, DType::i64, terms, {count}),
      detail::view_of(detail::idf_name, DType::f32, idf, {count}),
      detail::view_of(detail::weights_name, DType::f32, rows, {count, width}),
      detail::view_of(detail::bias_name, DType::f32, model.linear().bias, {width}),
      detail::view_of(detail::majority_name, DType::f32, majority, {std::ssize(majority)})};
  weights::write_safetensors(directory / "model.safetensors", tensors);
  const TermOptions& lengths = model.tfidf().options();
  json::Writer config;
  config.begin_object().member("model_type", model_type).key("terms").begin_object();
  config.member("most_words", lengths.most_words)
      .member("fewest_characters", lengths.fewest_characters)
      .member("most_characters", lengths.most_characters)
      .end_object()
      .end_object();
  weights::write_config(directory / "config.json", config.text(), "TfidfLinear", labels,
                        model.problem_type());
}

/// Reads a model that `save` has written. Its answers have the same bits. Throws `InputError` that
/// names the file and the key if a file is missing or damaged, or if the files do not fit together.
[[nodiscard]] inline SavedModel load(const std::filesystem::path& directory) {
  const weights::ConfigFile config{directory / "config.json"};
  const auto root = config.root();
  const auto type = weights::problem_type_in(root).value_or(ProblemType::single_label);
  const auto id2label = root.at("id2label");
  auto labels = weights::id2label_names(id2label);
  if (!allows_labels(type, labels.size())) {
    throw id2label.error("is of " + std::to_string(labels.size()) + " labels, which does not fit " +
                         std::string{name(type)});
  }
  const bool has_one_output = type == ProblemType::single_label && labels.size() == 2;
  const detail::SavedTensors tensors{directory / "model.safetensors"};
  const auto terms = tensors.terms();
  const auto count = std::ssize(terms), width = has_one_output ? 1 : std::ssize(labels);
  const auto idf = tensors.floats(detail::idf_name, {count});
  std::vector<KnownTerm> known;
  for (std::uint32_t i = 0; i < terms.size(); ++i) known.push_back({terms[i], i, idf[i]});
  LinearModel linear{.weights = tensors.floats(detail::weights_name, {count, width}),
                     .bias = tensors.floats(detail::bias_name, {width})};
  auto majority = tensors.floats(detail::majority_name, {std::ssize(labels)});
  tensors.check_unchanged();
  Tfidf tfidf{std::move(known), detail::term_options_in(root)};
  return {.model = {type, std::move(tfidf), std::move(linear), std::move(majority)},
          .labels = std::move(labels)};
}

}  // namespace seqtrain::baseline
