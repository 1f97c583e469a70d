#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/loading/vocabulary.hpp>
#include <seqtrain/text/models/string_hash.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::text {

/// Limits on the words of a vocabulary.
struct VocabularyOptions {
  std::size_t most = 60'000;   ///< the most words, with marks and without filler words
  std::uint64_t at_least = 3;  ///< the fewest occurrences of a word

  void validate() const {
    if (most <= Mark::all.size()) {
      throw InputError{"must be above the " + std::to_string(Mark::all.size()) + " marks",
                       {.object = "vocabulary", .field = "most"}};
    }
  }
};

/// Counts how often each word occurs in normalized texts, and keeps the order in which the words
/// first occur.
class WordCounts {
 public:
  /// Counts the words of a text. Throws `InputError` if it is not UTF-8.
  void add(std::string_view text) {
    if (!is_valid_utf8(text)) throw InputError{"the text is not UTF-8"};
    normal_form_.clear();
    WordMarks{}.normalize(text, normal_form_);
    WordSplitter{}.for_each_word(normal_form_, [this](std::string_view word) {
      const auto found = counts_.find(word);
      if (found != counts_.end()) {
        ++found->second.count;
      } else {
        counts_.emplace(word, Entry{.count = 1, .place = counts_.size()});
      }
    });
  }

  /// Adds the counts of texts that follow those of this object.
  void merge(const WordCounts& other) {
    std::vector<Counts::const_pointer> fresh;
    for (const auto& entry : other.counts_) {
      const auto found = counts_.find(entry.first);
      if (found != counts_.end()) {
        found->second.count += entry.second.count;
      } else {
        fresh.push_back(&entry);
      }
    }
    std::ranges::sort(fresh, {}, [](auto* entry) { return entry->second.place; });
    for (const auto* entry : fresh) {
      counts_.emplace(entry->first, Entry{.count = entry->second.count, .place = counts_.size()});
    }
  }

  void clear() { counts_.clear(); }

  /// Returns the vocabulary that fastai's `make_vocab` returns: the marks, then the words, the most
  /// frequent first, and at least one filler word, so that their number is a multiple of 8. Equally
  /// frequent words are in the order in which they first occur.
  [[nodiscard]] std::vector<std::string> vocabulary(const VocabularyOptions& options = {}) const {
    options.validate();
    std::vector<Counts::const_pointer> frequent;
    for (const auto& entry : counts_) {
      const std::string& word = entry.first;
      const bool mark = std::ranges::find(Mark::all, word) != Mark::all.end();
      if (entry.second.count >= options.at_least && !mark && word != filler_word) {
        frequent.push_back(&entry);
      }
    }
    std::ranges::sort(frequent, [](const auto* a, const auto* b) {
      const auto& [count, place] = a->second;
      return count != b->second.count ? count > b->second.count : place < b->second.place;
    });
    std::vector<std::string> words{Mark::all.begin(), Mark::all.end()};
    for (const auto* entry : frequent) {
      if (words.size() == options.most) break;
      words.push_back(entry->first);
    }
    do words.emplace_back(filler_word);
    while (words.size() % 8 != 0);
    return words;
  }

 private:
  struct Entry {
    std::uint64_t count = 0;
    std::size_t place = 0;  ///< number of words that occurred before this one
  };
  using Counts = std::unordered_map<std::string, Entry, StringHash, std::equal_to<>>;

  Counts counts_;
  std::string normal_form_;
};

/// Writes one word per line. The file appears complete or not at all.
inline void write_word_list(const std::filesystem::path& path,
                            const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(word).append("\n");
  write_file_atomically(path, text);
}

/// Reads a file that has one word per line. Throws `InputError` with the line if a line is empty or
/// not UTF-8.
[[nodiscard]] inline std::vector<std::string> read_word_list(const std::filesystem::path& path) {
  const MappedFile file{path};
  std::vector<std::string> words;
  detail::for_each_line(file, path, [&](std::string_view word, std::int64_t line) {
    if (word.empty()) throw InputError{"expected a word", {.object = path.string(), .line = line}};
    words.emplace_back(word);
  });
  return words;
}

}  // namespace seqtrain::text
