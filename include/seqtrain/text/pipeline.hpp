#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The normalizer of families that take text unchanged.
struct NoNormalizer {};

/// Turns text without added tokens into ids, by three parts that are known at compile time:
/// `Normalizer` makes the normal form, `Splitter` cuts it into words, `Model` encodes each word.
/// All text must be valid UTF-8.
template <class Normalizer, class Splitter, class Model>
class Pipeline {
 public:
  /// One thread's working memory.
  struct Scratch {
    std::string normal_form = {};
  };

  Pipeline(Normalizer normalizer, Splitter splitter, Model model)
      : normalizer_{std::move(normalizer)},
        splitter_{std::move(splitter)},
        model_{std::move(model)} {}

  /// Appends the ids of `text`. May stop once it has appended `limit` ids or more.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    encode_normalized(normalize(text, scratch), limit, scratch, out);
  }

  /// Returns the normal form of `text`. The view is valid until `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    if constexpr (requires { normalizer_.normalize(text, scratch.normal_form); }) {
      scratch.normal_form.clear();
      normalizer_.normalize(text, scratch.normal_form);
      return scratch.normal_form;
    } else {
      return text;
    }
  }

  /// Appends the ids of a text that is already in its normal form. May stop at `limit` ids or more.
  void encode_normalized(std::string_view text, std::size_t limit, Scratch&,
                         std::vector<Id>& out) const {
    const std::size_t before = out.size();
    splitter_.for_each_word(text, [&](std::string_view word) {
      if (out.size() - before < limit) model_.encode_word(word, out);
    });
  }

  [[nodiscard]] const Splitter& splitter() const noexcept { return splitter_; }
  [[nodiscard]] const Model& model() const noexcept { return model_; }

 private:
  [[no_unique_address]] Normalizer normalizer_;
  [[no_unique_address]] Splitter splitter_;
  Model model_;
};

}  // namespace seqtrain::text
