#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/predict/explain.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/weights/model_config.hpp>

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

/// Returns how many ids an encoder of this size may read to explain one text: 16,384, or on a
/// processor fewer if a token takes it longer than an encoder of two million layers · hidden_size²,
/// so that the explanations of a run take seconds. BERT-base has 7 million, all-MiniLM-L6-v2 0.9
/// million.
[[nodiscard]] inline std::size_t most_ids_to_explain(const weights::ModelConfig& config,
                                                     c10::Device device) {
  constexpr std::int64_t most_ids = 1 << 14, small_encoder = 2'000'000;
  if (!device.is_cpu()) return most_ids;
  const std::int64_t size = config.num_hidden_layers * config.hidden_size * config.hidden_size;
  return static_cast<std::size_t>(most_ids * small_encoder / std::max(size, small_encoder));
}

/// Returns what finds the shares that an example's words, of at most `max_length` ids, have in the
/// logit of the label with the greatest score; nothing if a logit is not finite, or if the text is
/// so long that explaining it would delay the end of a run. `device` is the model's. The model
/// must outlive the result.
[[nodiscard]] inline std::function<std::optional<predict::Explanation>(const data::Example&)>
deciding_words(const text::AnyTokenizer& tokenizer, model::AnyClassifier& model, predict::Task task,
               std::size_t max_length, c10::Device device) {
  const auto by = std::make_shared<const RunPredictor>(tokenizer, model, std::move(task));
  const std::size_t most_ids = most_ids_to_explain(model.config(), device);
  return [by, max_length, most_ids](const auto& example) -> std::optional<predict::Explanation> {
    constexpr std::size_t most_passes = 100;  // half as many as `predict --explain` has
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
