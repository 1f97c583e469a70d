#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/weights/numpy_array.hpp>
#include <seqtrain/weights/pickle.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/unpickle.hpp>

namespace seqtrain::weights {

/// The names of setfit's files beside a sentence encoder.
inline constexpr std::string_view setfit_head_name = "model_head.pkl";
/// The file of settings, such as the names of the labels.
inline constexpr std::string_view setfit_config_name = "config_setfit.json";

/// Tells whether a directory holds a model of setfit.
[[nodiscard]] inline bool is_setfit(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / setfit_head_name, ignored);
}

/// The settings of a model of setfit in its `config_setfit.json`.
struct SetfitConfig {
  std::vector<std::string> labels = {};  ///< by the numbers of the classes; may be empty
  bool normalizes = false;               ///< embeddings are divided by their 2-norms

  /// Reads a directory's settings; one without the file has the defaults.
  [[nodiscard]] static SetfitConfig load(const std::filesystem::path& directory) {
    SetfitConfig config;
    const auto file = directory / setfit_config_name;
    if (!std::filesystem::exists(file)) return config;
    const auto document = json::Document::load(file);
    if (const auto labels = document.root().find("labels")) {
      for (const auto& label : labels->items()) config.labels.emplace_back(label.string());
    }
    const auto normalizes = document.root().find("normalize_embeddings");
    config.normalizes = normalizes && normalizes->boolean();
    return config;
  }
};

/// The head of a model of setfit as a map from embeddings to logits. It is a logistic regression of
/// scikit-learn, or one for each label, in `model_head.pkl`. Nothing in that file is executed.
class SetfitHead {
 public:
  /// Reads a directory. Throws `InputError` that names the file and the class, or the attribute, if
  /// the head is of another kind.
  explicit SetfitHead(const std::filesystem::path& directory)
      : config_{SetfitConfig::load(directory)}, name_{(directory / setfit_head_name).string()} {
    const MappedFile file{directory / setfit_head_name};
    const auto bytes = file.bytes();
    if (bytes.empty() || bytes.front() != std::byte{0x80}) {
      fail("", "is no pickle, or a compressed one", "save it by joblib.dump without compress");
    }
    read(parse_pickle(bytes, name_, globals, other_head));
  }

  /// Reads a pickle. Errors call it `name`.
  SetfitHead(std::span<const std::byte> bytes, std::string name, SetfitConfig config)
      : config_{std::move(config)}, name_{std::move(name)} {
    read(parse_pickle(bytes, name_, globals, other_head));
  }

  /// Returns the names of the labels: those in config_setfit.json, else the classes themselves.
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }
  [[nodiscard]] ProblemType problem_type() const { return problem_type_; }
  [[nodiscard]] bool normalizes() const { return config_.normalizes; }

  /// Returns linear.weight [labels, features] and linear.bias, whose bytes live as long as this.
  [[nodiscard]] std::vector<TensorView> tensors() const {
    const auto rows = static_cast<std::int64_t>(labels_.size());
    const auto columns = static_cast<std::int64_t>(features_);
    return {{.name = "linear.weight",
             .shape = {rows, columns},
             .bytes = std::as_bytes(std::span{weights_})},
            {.name = "linear.bias", .shape = {rows}, .bytes = std::as_bytes(std::span{biases_})}};
  }

 private:
  using Ref = Pickle::Ref;

  static constexpr const char* other_head =
      "fit scikit-learn's LogisticRegression as the head, or train on the same examples by "
      "seqtrain train --few-shot";

  static constexpr std::string_view regressions[] = {
      "sklearn.linear_model._logistic.LogisticRegression",
      "sklearn.linear_model._logistic.LogisticRegressionCV",
      "sklearn.linear_model.logistic.LogisticRegression"};
  static constexpr std::string_view one_for_each = "sklearn.multiclass.OneVsRestClassifier";
  static constexpr std::string_view several_outputs = "sklearn.multioutput.MultiOutputClassifier";
  static constexpr std::string_view constant = "sklearn.multiclass._ConstantPredictor";
  static constexpr std::string_view globals[] = {regressions[0],
                                                 regressions[1],
                                                 regressions[2],
                                                 one_for_each,
                                                 several_outputs,
                                                 constant,
                                                 "sklearn.preprocessing._label.LabelBinarizer",
                                                 "sklearn.preprocessing.label.LabelBinarizer",
                                                 detail::joblib_array,
                                                 "numpy.ndarray",
                                                 "numpy.dtype",
                                                 "numpy.core.multiarray._reconstruct",
                                                 "numpy._core.multiarray._reconstruct",
                                                 "numpy.core.multiarray.scalar",
                                                 "numpy._core.multiarray.scalar",
                                                 "numpy.core.numeric._frombuffer",
                                                 "numpy._core.numeric._frombuffer",
                                                 "_codecs.encode"};

  /// The numbers of one array.
  struct Matrix {
    std::vector<double> numbers;
    std::size_t rows = 1;
    std::size_t columns = 1;
  };

  void read(const Pickle& pickle) {
    pickle_ = &pickle;
    const std::string_view name = pickle.called(pickle.root);
    if (is_regression(name)) {
      read_regression(pickle.root);
    } else if (name == one_for_each || name == several_outputs) {
      read_regressions(pickle.root, name == one_for_each);
    } else {
      fail("", "is no logistic regression", other_head);
    }
    pickle_ = nullptr;
    const auto is_finite = [](float number) { return std::isfinite(number); };
    if (!std::ranges::all_of(weights_, is_finite) || !std::ranges::all_of(biases_, is_finite)) {
      fail("coef_", "holds a number that is not finite");
    }
  }

  static bool is_regression(std::string_view name) {
    return std::ranges::find(regressions, name) != std::end(regressions);
  }

  /// Reads a regression over classes that exclude each other.
  void read_regression(Ref root) {
    const Matrix weights = matrix(root, "coef_"), biases = matrix(root, "intercept_");
    const auto classes = array(root, "classes_");
    const std::size_t count = classes.count();
    const std::size_t rows = count == 2 ? 1 : count;
    if (count < 2 || weights.rows != rows || biases.numbers.size() != rows) {
      fail("coef_", "has " + std::to_string(weights.rows) + " rows for " + std::to_string(count) +
                        " classes");
    }
    check_sizes(count, weights.columns);
    labels_ = names_of(classes);
    const std::string_view way = text(root, "multi_class");
    const bool by_solver = way == "auto" || way == "deprecated";
    const bool against_rest =
        way == "ovr" || way == "warn" || (by_solver && text(root, "solver") == "liblinear");
    if (rows > 1 && against_rest) {
      fail("multi_class", "is one class against the rest, whose scores are no logits", other_head);
    }
    if (rows > 1) {
      for (std::size_t row = 0; row < rows; ++row) add_row(weights, biases, row, 1);
    } else {  // the difference of two logits
      const double half = way == "multinomial" ? 1 : 0.5;
      add_row(weights, biases, 0, -half);
      add_row(weights, biases, 0, half);
    }
  }

  /// Reads a regression for each of several labels that may all be right.
  void read_regressions(Ref root, bool has_binarizer) {
    problem_type_ = ProblemType::multi_label;
    if (has_binarizer) {
      const auto binarizer = attribute(root, "label_binarizer_");
      if (!text(binarizer, "y_type_").starts_with("multilabel")) {
        fail("label_binarizer_", "is one class against the rest, whose scores are no logits",
             other_head);
      }
    }
    const auto* estimators = detail::items_of(*pickle_, attribute(root, "estimators_"), 1);
    if (estimators == nullptr) fail("estimators_", "is no list of classifiers");
    for (const Ref estimator : *estimators) {
      if (is_regression(pickle_->called(estimator))) {
        check_sizes(estimators->size(), matrix(estimator, "coef_").columns);
        break;
      }
    }
    if (features_ == 0) fail("estimators_", "has no logistic regression", other_head);
    for (const Ref estimator : *estimators) add_label(estimator);
    labels_ = config_.labels;
    if (labels_.size() == estimators->size()) return;
    labels_.clear();
    for (std::size_t i = 0; i < estimators->size(); ++i) {
      labels_.push_back("LABEL_" + std::to_string(i));
    }
  }

  /// Sets the number of features. Throws `InputError` if the map to so many labels has too many
  /// numbers: a pickle may name one regression many times.
  void check_sizes(std::size_t labels, std::size_t features) {
    constexpr std::size_t most_labels = 10'000, most_numbers = std::size_t{1} << 24;
    features_ = features;
    if (features >= 1 && labels <= most_labels && features <= most_numbers / labels) return;
    fail("coef_", "maps " + std::to_string(features) + " features to " + std::to_string(labels) +
                      " labels, which are too few or too many");
  }

  /// Adds the row of a label: its regression over the classes 0 and 1, or what it always is because
  /// all examples were equal.
  void add_label(Ref estimator) {
    if (pickle_->called(estimator) == constant) {
      constexpr double certain = 100;  // the probability is 1 or 0 in float
      const auto& always = matrix(estimator, "y_").numbers;
      if (always.size() != 1) fail("y_", "is not one number");
      weights_.resize(weights_.size() + features_);
      return biases_.push_back(always.front() != 0 ? certain : -certain);
    }
    if (!is_regression(pickle_->called(estimator))) {
      fail("estimators_", "has a classifier that is no logistic regression", other_head);
    }
    const Matrix weights = matrix(estimator, "coef_"), biases = matrix(estimator, "intercept_");
    const bool fits = weights.rows == 1 && weights.columns == features_ &&
                      biases.numbers.size() == 1 &&
                      matrix(estimator, "classes_").numbers == std::vector<double>{0, 1};
    if (!fits) fail("estimators_", "is not one regression over 0 and 1 for each label");
    add_row(weights, biases, 0, text(estimator, "multi_class") == "multinomial" ? 2 : 1);
  }

  /// Adds the logit of a label: a row of a regression times a factor.
  void add_row(const Matrix& weights, const Matrix& biases, std::size_t row, double factor) {
    for (std::size_t column = 0; column < features_; ++column) {
      const double number = weights.numbers[row * features_ + column];
      weights_.push_back(static_cast<float>(factor * number));
    }
    biases_.push_back(static_cast<float>(factor * biases.numbers[row]));
  }

  /// Returns the names of a regression's classes. A number is the index of its name in
  /// config_setfit.json if it has one there.
  [[nodiscard]] std::vector<std::string> names_of(const NumpyArray& classes) const {
    std::vector<std::string> names;
    const auto numbers = classes.numbers();
    for (std::size_t i = 0; i < classes.count(); ++i) {
      auto name = numbers ? name_of((*numbers)[i]) : text_at(*pickle_, classes, i);
      if (!name) fail("classes_", "holds something other than names and whole numbers");
      names.push_back(*std::move(name));
    }
    return names;
  }

  [[nodiscard]] std::optional<std::string> name_of(double number) const {
    if (!(std::abs(number) < 1e9) || number != std::trunc(number)) return {};
    const auto index = static_cast<std::int64_t>(number);
    const bool named = index >= 0 && static_cast<std::size_t>(index) < config_.labels.size();
    return named ? config_.labels[static_cast<std::size_t>(index)] : std::to_string(index);
  }

  // ---- attributes of objects ----

  [[nodiscard]] std::optional<Ref> find(Ref object, std::string_view name) const {
    const auto* call = pickle_->get_if<Pickle::Call>(object);
    if (call == nullptr || !call->state) return {};
    return pickle_->member(*call->state, name);
  }

  [[nodiscard]] Ref attribute(Ref object, const char* name) const {
    if (const auto found = find(object, name)) return *found;
    fail(name, "is missing: the head was not fitted");
  }

  /// Returns an attribute that is text, or an empty one.
  [[nodiscard]] std::string_view text(Ref object, std::string_view name) const {
    const auto found = find(object, name);
    const auto* value = found ? pickle_->get_if<std::string_view>(*found) : nullptr;
    return value != nullptr ? *value : std::string_view{};
  }

  [[nodiscard]] NumpyArray array(Ref object, const char* name) const {
    auto found = numpy_array(*pickle_, attribute(object, name));
    if (!found) fail(name, "is no array that can be read");
    return *std::move(found);
  }

  [[nodiscard]] Matrix matrix(Ref object, const char* name) const {
    const NumpyArray found = array(object, name);
    auto numbers = found.numbers();
    if (!numbers) fail(name, "is no matrix of numbers");
    Matrix result{.numbers = *std::move(numbers)};
    if (!found.shape.empty()) result.rows = static_cast<std::size_t>(found.shape[0]);
    if (found.shape.size() == 2) result.columns = static_cast<std::size_t>(found.shape[1]);
    return result;
  }

  [[noreturn]] void fail(const char* attribute, const std::string& problem,
                         const std::string& advice = {}) const {
    throw InputError{problem, {.object = name_, .field = attribute}, advice};
  }

  SetfitConfig config_;
  std::string name_;                // of the file
  const Pickle* pickle_ = nullptr;  // while it is read
  std::vector<std::string> labels_;
  ProblemType problem_type_ = ProblemType::single_label;
  std::size_t features_ = 0;
  std::vector<float> weights_, biases_;
};

}  // namespace seqtrain::weights
