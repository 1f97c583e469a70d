#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/data/example.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/page/facts.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/tokens.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::experiment {

/// Returns the part of a text that a range of its tokens stands for, or nothing if the tokenizer
/// does not know where they are.
[[nodiscard]] inline std::string text_between(std::string_view text,
                                              const std::vector<text::Token>& tokens,
                                              std::size_t begin, std::size_t end) {
  if (begin >= end || end > tokens.size()) return "";
  const auto first = tokens[begin].begin, last = tokens[end - 1].end;
  return first && last ? std::string{text.substr(*first, *last - *first)} : "";
}

/// Returns what finds the window of an example that decided, or nothing if the model reads no
/// windows. `model` must outlive it.
[[nodiscard]] inline std::function<std::optional<page::Passage>(const data::Example&)>
deciding_passages(const text::AnyTokenizer& tokenizer, model::AnyClassifier& model) {
  if (!tokenizer.windows()) return {};
  return [encode = std::make_shared<predict::TextEncoder>(tokenizer),
          &model](const data::Example& example) -> std::optional<page::Passage> {
    const auto longest = static_cast<std::size_t>(model.longest_row());
    const predict::Encoded ids = (*encode)(example.text, example.text_pair, longest);
    std::vector<text::DecidingWindow> deciding;
    (void)model.logits(predict::to_batch(std::span{&ids, 1}, encode->pad_id()), &deciding);
    if (deciding.empty() || deciding[0].count == 1) return {};  // for regression none decides
    const auto [index, count, of_second, begin, end] = deciding[0];
    const std::string_view cut = of_second ? *example.text_pair : example.text;
    const auto tokens = encode->tokens(cut, false).value_or(std::vector<text::Token>{});
    return page::Passage{
        .index = index, .count = count, .text = text_between(cut, tokens, begin, end)};
  };
}

}  // namespace seqtrain::experiment
