#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/loading/tokenizer_files.hpp>
#include <seqtrain/text/models/string_hash.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::text {

struct VocabularyOptions {
  std::size_t most = 60'000;   ///< the most words, marks included
  std::uint64_t at_least = 3;  ///< the fewest occurrences of a word

  void validate() const {
    if (most <= Mark::all.size()) {
      throw InputError{"must be above the " + std::to_string(Mark::all.size()) + " marks",
                       {.object = "vocabulary", .field = "most"}};
    }
  }
};

/// Counts how often each word occurs in normalized texts. The counts of several parts can be merged
/// in any order.
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
        ++found->second;
      } else {
        counts_.emplace(word, 1);
      }
    });
  }

  void merge(const WordCounts& other) {
    for (const auto& [word, count] : other.counts_) counts_[word] += count;
  }

  void clear() { counts_.clear(); }

  /// Returns the marks and then the words, the most frequent first. Equally frequent words are
  /// sorted by their bytes.
  [[nodiscard]] std::vector<std::string> vocabulary(const VocabularyOptions& options = {}) const {
    options.validate();
    std::vector<std::pair<std::uint64_t, std::string_view>> frequent;
    for (const auto& [word, count] : counts_) {
      const bool mark = std::ranges::find(Mark::all, word) != Mark::all.end();
      if (count >= options.at_least && !mark && word != filler_word) {
        frequent.emplace_back(count, word);
      }
    }
    std::ranges::sort(frequent, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::string> words{Mark::all.begin(), Mark::all.end()};
    for (const auto& [count, word] : frequent) {
      if (words.size() == options.most) break;
      words.emplace_back(word);
    }
    return words;
  }

 private:
  std::unordered_map<std::string, std::uint64_t, StringHash, std::equal_to<>> counts_;
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
