#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/predict/explain.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/any_tokenizer.hpp>

namespace seqtrain::experiment {

/// A classifier of a run as a `predict::Predictor`. It has adapters or a head of its own if the run
/// gave it these.
class RunPredictor {
 public:
  /// `model` must outlive this object.
  RunPredictor(const text::AnyTokenizer& tokenizer, model::AnyClassifier& model, predict::Task task)
      : encode_{tokenizer}, model_{&model}, task_{std::move(task)} {}

  [[nodiscard]] const predict::Task& task() const { return task_; }

  [[nodiscard]] predict::Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                                        std::size_t max_length) const {
    return encode_(text, pair, max_length);
  }

  [[nodiscard]] metrics::Logits predict(std::span<const predict::Encoded> texts) const {
    return model_->logits(predict::to_batch(texts, encode_.pad_id()));
  }

 private:
  predict::TextEncoder encode_;
  model::AnyClassifier* model_;
  predict::Task task_;
};

static_assert(predict::Predictor<RunPredictor>);

/// Returns what finds the shares that an example's words, of at most `max_length` ids, have in the
/// logit of the label with the greatest score; nothing if a logit is not finite, or if the text is
/// so long that explaining it would delay the end of a run. `model` must outlive it.
[[nodiscard]] inline std::function<std::optional<predict::Explanation>(const data::Example&)>
deciding_words(const text::AnyTokenizer& tokenizer, model::AnyClassifier& model, predict::Task task,
               std::size_t max_length) {
  const auto by = std::make_shared<const RunPredictor>(tokenizer, model, std::move(task));
  return [by, max_length](const auto& example) -> std::optional<predict::Explanation> {
    constexpr std::size_t most_passes = 100;   // half as many as `predict --explain` has
    constexpr std::size_t most_ids = 1 << 14;  // in all passes of a text
    try {
      const auto encoded = by->encode(example.text, example.text_pair, max_length);
      const predict::ExplainOptions options{
          .passes = std::min<std::size_t>(most_passes, most_ids / encoded.input_ids.size())};
      if (options.passes < predict::ExplainOptions::fewest) return {};
      const auto logits = by->predict(std::span{&encoded, 1});
      const auto prediction =
          predict::interpret({logits.data(), static_cast<std::size_t>(logits.size())}, by->task());
      return predict::explain(*by, example.text, example.text_pair, prediction, max_length, options)
          .front();
    } catch (const InputError&) {
      return {};
    }
  };
}

}  // namespace seqtrain::experiment
