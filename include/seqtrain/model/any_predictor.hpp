#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/token.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

class AnyClassifier;

/// Options of `AnyPredictor`.
struct PredictorOptions {
  c10::Device device = c10::Device{c10::kCPU};
  /// Precision of products; an AWD-LSTM has fp32 and, on a processor without quasi-recurrent
  /// layers, bf16.
  Precision precision = Precision::fp32;
  /// The base's directory if the model is an adapter; by default the one that the adapter names.
  std::filesystem::path base = {};
  bool needs_head = true;  ///< false if a base without a head is loaded for its adapters
  /// If given, the model's head does not count, and the logits are embeddings of the texts: hidden
  /// states that are pooled and normalized as modules.json says, by the mean without one, and then
  /// as these options say. An adapter without a modules.json has all settings of its base.
  std::optional<predict::EmbeddingOptions> embedding = {};
};

/// A text, or a pair of texts.
struct Text {
  std::string_view text;
  std::optional<std::string_view> pair = {};
};

/// A trained classifier of any family with its tokenizer and its labels, ready for predictions.
/// Threads may share it: they encode at the same time, and one batch at a time is predicted, by as
/// many threads as torch is set to use. Copies share the model.
///
/// On a processor, an encoder's logits for a text have the same bits whatever other texts are
/// predicted with it. On other devices, and for an AWD-LSTM, they are equal up to rounding.
class AnyPredictor {
 public:
  using Encoded = predict::Encoded;

  /// Loads a directory in Hugging Face's layout, an adapter in PEFT's, the directory of a run, a
  /// directory that the program `languages` has written, or a model of `seqtrain baseline`, which
  /// reads whole texts and computes on a processor, whatever the device. Throws `InputError` if it
  /// is none of them, if its files do not fit together, or if the model is not fine-tuned.
  explicit AnyPredictor(const std::filesystem::path& directory,
                        const PredictorOptions& options = {});

  /// Loads an adapter of this model, which must be a whole one on a processor, in bf16 or int8,
  /// with the hand-written backend, and no DeBERTa. The result shares its encoder and tokenizer,
  /// and has a head and labels of its own. One call of `predict` takes texts that several of them
  /// have encoded: each is answered by the adapter that encoded it. The model changes, also for
  /// copies of this object, so call this before threads share it. Throws `InputError` as the
  /// constructor does.
  [[nodiscard]] AnyPredictor with_adapter(const std::filesystem::path& directory);

  /// Tells whether the model has a head that was trained. Otherwise only its adapters answer.
  [[nodiscard]] bool has_head() const { return has_head_; }

  [[nodiscard]] const predict::Task& task() const { return task_; }
  [[nodiscard]] const std::vector<std::string>& labels() const { return task_.labels; }
  [[nodiscard]] ProblemType problem_type() const { return task_.problem_type; }
  /// Returns a line for a log that says how texts are embedded, and which folder's files say so;
  /// empty for a classifier.
  [[nodiscard]] const std::string& describe_embeddings() const { return described_; }
  /// Returns the precision of the encoder's products.
  [[nodiscard]] Precision precision() const { return precision_; }
  /// See `cpu::AnyEncoder::maps_in_bf16`.
  [[nodiscard]] std::size_t maps_in_bf16() const { return maps_in_bf16_; }
  /// Returns the greatest number of ids of a text, including special tokens.
  [[nodiscard]] std::size_t max_length() const { return max_length_; }
  /// Returns the number of ids to which texts are truncated unless the caller says otherwise:
  /// `max_length()`, or what the files of the tokenizer, or of the adapter, allow if that is less.
  [[nodiscard]] std::size_t usual_length() const { return std::min(max_length_, allowed_length_); }

  /// Encodes a text or a pair, truncated to `usual_length()` ids. Throws `InputError` on text that
  /// is not UTF-8.
  [[nodiscard]] Encoded encode(std::string_view text,
                               std::optional<std::string_view> pair = {}) const {
    return encode(text, pair, usual_length());
  }
  /// Encodes a text or a pair, cut to `max_length` ids, which may be more than the model takes.
  /// `way` says which ids it keeps; if it is not given, the tokenizer's files do.
  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               std::size_t max_length,
                               std::optional<text::LongTexts> way = {}) const {
    auto encoded = (*encode_)(text, pair, max_length, way);
    encoded.adapter = adapter_;
    if (backwards_) {
      std::ranges::reverse(encoded.input_ids);
      encoded.first_segment = encoded.input_ids.size();
    }
    return encoded;
  }

  /// Returns the tokens of a text, or nothing if the tokenizer cannot name its ids.
  [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                               bool special) const {
    return encode_->tokens(text, special);
  }

  /// Returns the logits of each text [texts, labels], or its embedding [texts, numbers] if
  /// `task().embeds()`. There are as many columns as the model or its
  /// adapter with the most labels has; those after a text's own labels are 0. Throws `InputError`
  /// if a text has more ids than the model takes, and `Error` if there is too little memory for so
  /// many texts at once. Sets `deciding` to the window of each text that decided, if it is given
  /// and a classifier reads windows.
  [[nodiscard]] metrics::Logits predict(
      std::span<const Encoded> texts, std::vector<text::DecidingWindow>* deciding = nullptr) const;

  /// Returns the windows in which the model reads texts, if it does. `predict` also takes a window
  /// as a text: see `predict::ReadsWindows`.
  [[nodiscard]] const std::optional<text::Windows>& windows() const { return windows_; }

  /// Returns the logits of a text from those of its windows [windows, labels]. On a processor they
  /// have the bits that `predict` gives the whole text if the hand-written backend computes it.
  [[nodiscard]] predict::Pooled pooled(const metrics::Logits& windows) const;

  /// Returns the prediction for each text.
  [[nodiscard]] std::vector<predict::Prediction> operator()(std::span<const Text> texts) const {
    std::vector<Encoded> encoded;
    for (const auto& [text, pair] : texts) encoded.push_back(encode(text, pair));
    std::vector<text::DecidingWindow> deciding;
    const auto rows = predict(encoded, &deciding);
    deciding.resize(encoded.size());
    std::vector<predict::Prediction> predictions;
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
      const auto width = static_cast<std::size_t>(rows.cols());
      predictions.push_back(predict::interpret({rows.row(row).data(), width}, task_,
                                               deciding[static_cast<std::size_t>(row)]));
    }
    return predictions;
  }

 private:
  struct State;

  void load_baseline(const std::filesystem::path& folder);
  void describe(const AnyClassifier& model, c10::Device device);
  void classify(const std::filesystem::path& folder, const weights::ModelConfig& config,
                const std::filesystem::path& base);
  void embed(const std::filesystem::path& folder, const weights::SentenceForm& form,
             const weights::ModelConfig& config, const PredictorOptions& options);
  void calibrate(const std::filesystem::path& file);
  [[nodiscard]] metrics::Logits embeddings(metrics::Logits& states) const;
  [[nodiscard]] metrics::Logits logits(std::span<const Encoded> texts,
                                       std::vector<text::DecidingWindow>* deciding) const;

  std::shared_ptr<const predict::TextEncoder> encode_;
  std::shared_ptr<State> state_;  ///< the model
  predict::Task task_;
  Precision precision_ = Precision::fp32;
  std::size_t maps_in_bf16_ = 0;
  std::size_t max_length_ = 0;
  std::optional<text::Windows> windows_ = {};
  std::size_t allowed_length_ = 0;  ///< the limit in the files of the tokenizer or the adapter
  bool has_head_ = true;
  bool normalizes_ = false;  ///< modules.json normalizes embeddings
  predict::EmbeddingOptions embedding_ = {};
  std::string described_ = {};  ///< how texts are embedded
  std::int32_t adapter_ = 0;    ///< its number
  bool by_itself_ = false;      ///< each text is predicted alone
  bool backwards_ = false;      ///< texts are read from the end
};

static_assert(predict::ReadsWindows<AnyPredictor>);

}  // namespace seqtrain::model

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/any_predictor.hpp>
#endif
