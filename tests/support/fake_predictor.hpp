#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/windows.hpp>

#include "support/letter_tokenizer.hpp"

namespace seqtrain::tests {

/// A predictor for tests. The logits of a text are its number of ids, its second id, and 0. It
/// records the lengths of the texts of each batch. If it reads windows the last one decides. The
/// second logit of a text whose second id is `spoiled` is NaN.
struct FakePredictor {
  [[nodiscard]] const predict::Task& task() const { return task_; }

  [[nodiscard]] predict::Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                                        std::size_t max_length) const {
    return encode_(text, pair, max_length);
  }

  [[nodiscard]] metrics::Logits predict(
      std::span<const predict::Encoded> texts,
      std::vector<text::DecidingWindow>* deciding = nullptr) const {
    auto& lengths = batches.emplace_back();
    metrics::Logits logits = metrics::Logits::Zero(static_cast<Eigen::Index>(texts.size()), 3);
    for (Eigen::Index row = 0; const auto& text : texts) {
      lengths.push_back(text.input_ids.size());
      logits(row, 0) = static_cast<float>(text.input_ids.size());
      const std::int32_t second = text.input_ids.at(1);
      logits(row++, 1) =
          second == spoiled ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(second);
      if (deciding == nullptr || window == 0) continue;
      const std::size_t end = text.input_ids.size(), last = (end - 1) / window;
      deciding->push_back({.index = last, .count = last + 1, .begin = last * window, .end = end});
    }
    return logits;
  }

  predict::Task task_ = {.labels = {"length", "letter", "nothing"}};
  predict::TextEncoder encode_{LetterTokenizer{}};
  std::size_t window = 0;  ///< number of ids of a window, or 0 if it reads texts at once
  std::int32_t spoiled = -1;
  mutable std::vector<std::vector<std::size_t>> batches = {};
};

static_assert(predict::Predictor<FakePredictor>);

}  // namespace seqtrain::tests
