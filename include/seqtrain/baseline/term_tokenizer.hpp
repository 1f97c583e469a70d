#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/baseline/model.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::baseline {

/// The tokenizer of a `Model`. It models `text::Tokenizer`; its ids are those of `Model::encode`. A
/// text has an id for each known term, so it has many, and none of them is cut off.
class TermTokenizer {
 public:
  using Scratch = std::optional<Model::Scratch>;

  explicit TermTokenizer(std::shared_ptr<const Model> model) : model_{std::move(model)} {}

  /// Appends the ids of a text or a pair of texts, and returns their number. Throws `InputError` if
  /// a text is not UTF-8.
  std::size_t encode(std::string_view text, std::optional<std::string_view> pair,
                     const text::EncodeOptions& /*a limit of ids does not apply*/, Scratch& scratch,
                     std::vector<text::Id>& out) const {
    text::check_utf8(text);
    if (pair) text::check_utf8(*pair);
    if (!scratch) scratch = model_->scratch();
    const std::size_t before = out.size();
    model_->encode(text, pair, *scratch, out);
    return out.size() - before;
  }

  [[nodiscard]] std::size_t vocab_size() const { return model_->tfidf().columns() + 1; }
  [[nodiscard]] text::Id pad_id() const { return 0; }
  /// Returns 1: the id 0 begins each text.
  [[nodiscard]] std::size_t special_tokens(bool) const { return 1; }

 private:
  std::shared_ptr<const Model> model_;
};

static_assert(text::Tokenizer<TermTokenizer>);

}  // namespace seqtrain::baseline
