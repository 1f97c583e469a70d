#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/load_awd_lstm.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/predict/encoded.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/subwords/subword_tokenizer.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/weights/calibration.hpp>

namespace seqtrain::model {

struct PredictorOptions {
  c10::Device device = c10::Device{c10::kCPU};
  /// Precision of an encoder's products; an AWD-LSTM has only fp32.
  Precision precision = Precision::fp32;
};

/// A text, or a pair of texts.
struct Text {
  std::string_view text;
  std::optional<std::string_view> pair = {};
};

/// A trained classifier of any family with its tokenizer and its labels, ready for predictions.
/// Threads may share it: they encode at the same time, and one batch at a time is predicted, by as
/// many threads as torch is set to use.
///
/// On a processor, an encoder's logits for a text have the same bits whatever other texts are
/// predicted with it. On other devices, and for an AWD-LSTM, they are equal up to rounding.
class Predictor {
 public:
  using Encoded = predict::Encoded;

  /// Loads a directory in Hugging Face's layout, the directory of a run, or a directory that the
  /// program `languages` has written. Throws `InputError` if it is none of them, if its files do
  /// not fit together, or if the model is not fine-tuned.
  explicit Predictor(const std::filesystem::path& directory, const PredictorOptions& options = {})
      : Predictor{Resolved{resolve(directory)}, options} {}

  [[nodiscard]] const predict::Task& task() const { return task_; }
  [[nodiscard]] const std::vector<std::string>& labels() const { return task_.labels; }
  [[nodiscard]] ProblemType problem_type() const { return task_.problem_type; }
  /// Returns the precision of the encoder's products.
  [[nodiscard]] Precision precision() const { return precision_; }
  /// See `cpu::AnyEncoder::maps_in_bf16`.
  [[nodiscard]] std::size_t maps_in_bf16() const { return maps_in_bf16_; }
  /// Returns the greatest number of ids of a text, including special tokens.
  [[nodiscard]] std::size_t max_length() const { return max_length_; }
  /// Returns the number of special tokens around a single text (false) or a pair (true).
  [[nodiscard]] std::size_t special_tokens(bool pair) const { return encode_.special_tokens(pair); }

  /// Encodes a text or a pair, truncated to `max_length()` ids. Throws `InputError` on text that is
  /// not UTF-8.
  [[nodiscard]] Encoded encode(std::string_view text,
                               std::optional<std::string_view> pair = {}) const {
    return encode(text, pair, max_length_);
  }
  /// Encodes a text or a pair, truncated to `max_length` ids, which may be more than the model
  /// takes.
  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               std::size_t max_length, predict::Cut cut = predict::Cut::end) const {
    auto encoded = encode_(text, pair, max_length, cut);
    if (backwards_) {
      std::ranges::reverse(encoded.input_ids);
      encoded.first_segment = encoded.input_ids.size();
    }
    return encoded;
  }

  /// Returns the tokens of a text, or nothing if the tokenizer cannot name its ids.
  [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                               bool special) const {
    return encode_.tokens(text, special);
  }

  /// Returns the logits of each text [texts, labels]. Throws `InputError` if a text has more ids
  /// than the model takes, and `Error` if there is too little memory for so many texts at once.
  [[nodiscard]] metrics::Logits predict(std::span<const Encoded> texts) const {
    if (texts.empty()) return {0, static_cast<Eigen::Index>(labels().size())};
    const std::lock_guard lock{state_->mutex};
    if (!by_itself_) return logits(texts);
    metrics::Logits all{static_cast<Eigen::Index>(texts.size()),
                        static_cast<Eigen::Index>(labels().size())};
    for (Eigen::Index row = 0; row < all.rows(); ++row) {
      all.row(row) = logits(texts.subspan(static_cast<std::size_t>(row), 1));
    }
    return all;
  }

  /// Returns the scores for a row of logits: see `predict::scores`.
  [[nodiscard]] std::vector<double> scores(std::span<const float> logits) const {
    return predict::scores(logits, task_);
  }

  /// Returns the labels, the scores and the logits of each text.
  [[nodiscard]] std::vector<predict::Prediction> operator()(std::span<const Text> texts) const {
    std::vector<Encoded> encoded;
    for (const auto& [text, pair] : texts) encoded.push_back(encode(text, pair));
    const auto rows = predict(encoded);
    std::vector<predict::Prediction> predictions;
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
      const auto width = static_cast<std::size_t>(rows.cols());
      predictions.push_back(predict::interpret({rows.row(row).data(), width}, task_));
    }
    return predictions;
  }

 private:
  using Model = std::variant<AnyClassifier, AwdLstmClassifier>;

  struct State {
    Model model;
    std::mutex mutex = {};
  };

  struct Resolved {
    std::filesystem::path directory;
  };

  Predictor(const Resolved& resolved, const PredictorOptions& options)
      : encode_{load_tokenizer(resolved.directory)},
        state_{std::make_unique<State>(load(resolved.directory, encode_, options))} {
    std::visit([&](const auto& model) { describe(model, options.device); }, state_->model);
    calibrate(resolved.directory / "config.json");
    calibrate(resolved.directory / "description.json");
    if (!std::holds_alternative<AwdLstmClassifier>(state_->model)) return;
    const auto description = AwdLstmDescription::load(resolved.directory);
    max_length_ = static_cast<std::size_t>(description.max_length);
    backwards_ = description.backwards;
  }

  /// Returns the model's folder in a run's directory, or the directory itself if it is a model's.
  static std::filesystem::path resolve(const std::filesystem::path& directory) {
    if (std::filesystem::exists(directory / "config.json")) return directory;
    const auto model = directory / "model";
    return std::filesystem::exists(model / "config.json") ? model : directory;
  }

  static predict::TextEncoder load_tokenizer(const std::filesystem::path& directory) {
    if (const auto path = directory / "subwords.model"; std::filesystem::exists(path)) {
      return predict::TextEncoder{subwords::load_subwords(path)};
    }
    return predict::TextEncoder{text::load_tokenizer(directory)};
  }

  static Model load(const std::filesystem::path& directory, const predict::TextEncoder& tokenizer,
                    const PredictorOptions& options) {
    if (!std::filesystem::exists(directory / "config.json") &&
        std::filesystem::exists(directory / AwdLstmDescription::load(directory).model)) {
      auto model = load_awd_lstm(directory, tokenizer.pad_id(), options.device);
      check_vocabulary({.vocab_size = model.vocab_size()}, tokenizer.vocab_size());
      return model;
    }
    auto model = load_classifier(directory, {.tokenizer_size = tokenizer.vocab_size(),
                                             .device = options.device,
                                             .precision = options.precision,
                                             .only_predicts = true});
    check_trained(model.load_report());
    return model;
  }

  /// Takes the temperature or the thresholds in a file, if it exists and has them.
  void calibrate(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) return;
    const auto document = json::Document::load(file);
    const auto found = weights::calibration_in(document.root(), labels().size());
    if (!found) return;
    task_.temperature = found->temperature;
    task_.thresholds = found->thresholds;
  }

  void describe(const AnyClassifier& model, c10::Device device) {
    task_ = {.labels = model.config().labels, .problem_type = model.problem_type()};
    precision_ = model.precision();
    maps_in_bf16_ = model.maps_in_bf16();
    max_length_ = static_cast<std::size_t>(model.max_length());
    // The bits of torch's operators depend on the number of rows, so each text is predicted alone.
    by_itself_ = device.is_cpu() && !model.has_kernels();
  }

  void describe(const AwdLstmClassifier& model, c10::Device) {
    task_ = {.labels = model.options().labels, .problem_type = model.problem_type()};
  }

  [[nodiscard]] metrics::Logits logits(std::span<const Encoded> texts) const {
    const data::Batch batch = predict::to_batch(texts, encode_.pad_id());
    return std::visit([&](auto& model) { return model.logits(batch); }, state_->model);
  }

  predict::TextEncoder encode_;
  std::unique_ptr<State> state_;
  predict::Task task_;
  Precision precision_ = Precision::fp32;
  std::size_t maps_in_bf16_ = 0;
  std::size_t max_length_ = 0;
  bool by_itself_ = false;  ///< each text is predicted alone
  bool backwards_ = false;  ///< texts are read from the end
};

static_assert(predict::Predictor<Predictor>);

}  // namespace seqtrain::model
