#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/byte_level_pipeline.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/normalizers/normalizers.hpp>

namespace seqtrain::text {

/// Byte-level BPE of a text's normal form, e.g. ModernBERT's with NFC.
class NormalizedByteLevelPipeline {
 public:
  /// One thread's working memory. Several pipelines may use it in turn.
  class Scratch {
    friend NormalizedByteLevelPipeline;

    std::string normal_form_;
    std::string other_;
    ByteLevelPipeline::Scratch words_;
  };

  NormalizedByteLevelPipeline(NormalizerSequence normalizers, ByteLevelPipeline words)
      : normalizers_{std::move(normalizers)}, words_{std::move(words)} {}

  /// Appends the ids of `text`. May stop once it has appended `limit` ids or more.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    encode_normalized(normalize(text, scratch), limit, scratch, out);
  }

  /// Returns the normal form of `text`. The view is valid until `scratch` is used again.
  [[nodiscard]] std::string_view normalize(std::string_view text, Scratch& scratch) const {
    return normalizers_.normalize(text, scratch.normal_form_, scratch.other_);
  }

  /// Appends the ids of a text that is already in its normal form. May stop at `limit` ids or more.
  void encode_normalized(std::string_view text, std::size_t limit, Scratch& scratch,
                         std::vector<Id>& out) const {
    words_.encode(text, limit, scratch.words_, out);
  }

  /// Appends the ids of `text` without the cache of words.
  void encode_parts(std::string_view text, Scratch& scratch, std::vector<Id>& out) const {
    ByteLevelPipeline::Plain::Scratch words;
    words_.plain().encode(normalize(text, scratch), std::numeric_limits<std::size_t>::max(), words,
                          out);
  }

 private:
  NormalizerSequence normalizers_;
  ByteLevelPipeline words_;
};

}  // namespace seqtrain::text
