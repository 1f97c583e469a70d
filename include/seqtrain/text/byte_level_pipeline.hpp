#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/bpe.hpp>
#include <seqtrain/text/models/long_word_cache.hpp>
#include <seqtrain/text/models/word_cache.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level.hpp>
#include <seqtrain/text/pre_tokenizers/byte_level_words.hpp>

namespace seqtrain::text {

/// Gives the ids of `Plain` faster: GPT-2's splitter and BPE in one pass with a cache of words. It
/// cuts the text chunk by chunk.
class ByteLevelPipeline {
  static constexpr std::size_t batch = 128;

 public:
  using Plain = Pipeline<NoNormalizer, ByteLevelSplitter, Bpe>;

  /// One thread's working memory. Several pipelines may use it in turn.
  class Scratch {
    friend ByteLevelPipeline;

    ByteLevelWords words_;
    WordCache short_;
    LongWordCache long_;
    std::uint64_t cached_for_ = 0;
    std::array<WordKey, batch> keys_;
    std::array<std::size_t, batch> places_{};
    std::string prefixed_;
  };

  ByteLevelPipeline(ByteLevelSplitter splitter, Bpe model)
      : add_prefix_space_{splitter.add_prefix_space}, plain_{{}, splitter, std::move(model)} {}

  /// Returns the pipeline that runs the parts one after the other.
  [[nodiscard]] const Plain& plain() const noexcept { return plain_; }

  /// Appends the ids of `text`. May stop once it has appended `limit` ids or more.
  void encode(std::string_view text, std::size_t limit, Scratch& scratch,
              std::vector<Id>& out) const {
    forget_others(scratch);
    if (add_prefix_space_ && !text.empty() && text.front() != ' ') {
      text = scratch.prefixed_.assign(1, ' ').append(text);
    }
    const std::size_t before = out.size();
    const auto missing = [&] { return limit - std::min(limit, out.size() - before); };
    while (!text.empty() && missing() > 0) {
      std::size_t done = scratch.words_.scan(text);
      if (done > 0) {
        encode_words(missing(), scratch, out);
      } else {
        done = ByteLevelSplitter::word_end(text, 0);
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
  static std::uint64_t next_identity() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  void forget_others(Scratch& scratch) const {
    if (std::exchange(scratch.cached_for_, identity_) == identity_) return;
    scratch.short_.reset();
    scratch.long_.reset();
  }

  /// Encodes the words of the chunk in `scratch` until `limit` ids are appended.
  void encode_words(std::size_t limit, Scratch& scratch, std::vector<Id>& out) const {
    const std::size_t before = out.size();
    const std::size_t words = scratch.words_.size();
    for (std::size_t i = 0; i < words && out.size() - before < limit; i += batch) {
      encode_batch(i, std::min(batch, words - i), scratch, out);
    }
  }

  /// Encodes `count` words. It prefetches the cache lines of all of them before it reads the first.
  void encode_batch(std::size_t first, std::size_t count, Scratch& scratch,
                    std::vector<Id>& out) const {
    const ByteLevelWords& words = scratch.words_;
    auto& keys = scratch.keys_;
    auto& places = scratch.places_;
    for (std::size_t i = 0; i < count; ++i) {
      keys[i] = WordKey::of_padded(words[first + i]);
      places[i] = scratch.short_.place(keys[i]);
      scratch.short_.prefetch(places[i]);
    }
    std::array<Id, batch * WordCache::max_ids> ids;
    Id* end = ids.data();
    for (std::size_t i = 0; i < count; ++i) {
      const auto* entry = scratch.short_.find(keys[i], places[i]);
      if (entry) [[likely]] {
        std::memcpy(end, entry->ids.data(), sizeof entry->ids);
        end += entry->count();
      } else {
        out.insert(out.end(), ids.data(), std::exchange(end, ids.data()));
        encode_rare(words[first + i], keys[i], scratch, out);
      }
    }
    out.insert(out.end(), ids.data(), end);
  }

  /// Encodes a word that the cache of short words does not hold: it is new, is too long for a key,
  /// or has too many ids.
  [[gnu::noinline]] void encode_rare(std::string_view word, const WordKey& key, Scratch& scratch,
                                     std::vector<Id>& out) const {
    const auto ids = scratch.long_.find(word);
    if (!ids.empty()) return void(out.insert(out.end(), ids.begin(), ids.end()));
    const std::size_t before = out.size();
    plain_.model().encode_word(word, out);
    const auto fresh = std::span<const Id>{out}.subspan(before);
    if (word.size() <= WordKey::max_bytes && fresh.size() <= WordCache::max_ids) {
      scratch.short_.insert(key, fresh);
    } else {
      scratch.long_.insert(word, fresh);
    }
  }

  bool add_prefix_space_;
  Plain plain_;
  std::uint64_t identity_ = next_identity();  ///< identifies the pipeline whose ids a cache holds
};

}  // namespace seqtrain::text
