#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/bpe.hpp>
#include <seqtrain/text/models/cached_words.hpp>
#include <seqtrain/text/normalizers/normalizers.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level_words.hpp>

namespace seqtrain::text {

/// Gives the ids of `Plain` faster: the splitter and BPE in one pass with a cache of words. It cuts
/// the text chunk by chunk.
class ByteLevelPipeline {
 public:
  using Plain = Pipeline<NoNormalizer, ByteLevelSplitter, Bpe>;

  /// One thread's working memory. Several pipelines may use it in turn.
  class Scratch {
    friend ByteLevelPipeline;

    ByteLevelWords words_;
    CachedWords cached_;
    std::string prefixed_;
  };

  ByteLevelPipeline(ByteLevelSplitter splitter, Bpe model)
      : splitter_{splitter}, plain_{{}, splitter, std::move(model)} {}

  /// Returns the pipeline that runs the parts one after the other.
  [[nodiscard]] const Plain& plain() const noexcept { return plain_; }

  /// Appends the ids of `text`. May stop once it has appended `limit` ids or more.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    scratch.cached_.begin(identity_);
    if (splitter_.add_prefix_space && !text.empty() && text.front() != ' ') {
      text = scratch.prefixed_.assign(1, ' ').append(text);
    }
    const std::size_t before = out.size();
    const auto missing = [&] { return limit - std::min(limit, out.size() - before); };
    while (!text.empty() && missing() > 0) {
      std::size_t done = scratch.words_.scan(text, splitter_.pattern);
      if (done > 0) {
        const auto encode_rare = [&](std::string_view word, const WordKey& key) {
          return scratch.cached_.append_rare(word, key, out, [&] {
            plain_.model().encode_word(word, out);
            return true;
          });
        };
        scratch.cached_.append_all(scratch.words_, 128, missing(), encode_rare, out);
      } else {
        done = ByteLevelSplitter::word_end(text, 0, splitter_.pattern);
        plain_.model().encode_word(text.substr(0, done), out);
      }
      text.remove_prefix(done);
    }
  }

  /// Returns `text` unchanged: this pipeline has no normalizer.
  [[nodiscard]] static std::string_view normalize(std::string_view text, Scratch&) { return text; }
  void encode_normalized(std::string_view text, std::size_t limit, Scratch& scratch,
                         std::vector<Id>& out) const {
    encode(text, limit, scratch, out);
  }

 private:
  ByteLevelSplitter splitter_;
  Plain plain_;
  CachedWords::Owner identity_;
};

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
