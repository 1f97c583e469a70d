#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/language_loader.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/pretrained_words.hpp>
#include <seqtrain/text/loading/word_list.hpp>
#include <seqtrain/text/normalizers/word_marks.hpp>
#include <seqtrain/text/word_tokenizer.hpp>
#include <seqtrain/weights/fastai.hpp>

namespace seqtrain::languages {

/// Returns the texts as parallel streams, as many as their length allows.
[[nodiscard]] inline data::LanguageLoader streams(const Job& job, data::EncodedSet texts,
                                                  std::size_t bptt = 70) {
  const std::size_t most = std::max<std::size_t>(1, texts.tokens() / (2 * bptt));
  return data::LanguageLoader{
      std::move(texts),
      {.batch_size = std::min(static_cast<std::size_t>(job.batch_size), most),
       .bptt = bptt,
       .seed = static_cast<std::uint64_t>(job.seed)}};
}

/// Returns the file with the words that belong to the rows of `pretrained.pth`.
[[nodiscard]] inline std::filesystem::path pretrained_vocabulary(
    const std::filesystem::path& data) {
  const auto list = data / "vocabulary.txt", pickle = data / "vocabulary.pkl";
  if (std::filesystem::exists(list)) return list;
  if (std::filesystem::exists(pickle)) return linked_file(pickle);
  throw InputError{"is missing: pretrained.pth needs a file with the word of each row, one a line",
                   {.object = list.string()},
                   "add it, or vocabulary.pkl, the list that fastai has pickled"};
}

/// Throws `InputError` unless a language model, whose vocabulary is in `file`, knows half of the
/// words or pieces of the texts without marks. Otherwise the vocabulary is that of another language
/// or of other weights.
inline void check_same_language(const std::vector<std::string>& words,
                                const std::vector<std::string>& known,
                                const std::filesystem::path& file) {
  const auto is_mark = [](std::string_view word) {
    if (word.starts_with("▁")) word.remove_prefix(std::string_view{"▁"}.size());
    return word == text::filler_word || std::ranges::count(text::Mark::all, word) > 0;
  };
  std::vector<std::string> own = words;
  std::erase_if(own, is_mark);
  const auto found = std::ranges::count_if(model::pretrained::places_of(own, known),
                                           [](std::int64_t place) { return place >= 0; });
  if (static_cast<std::size_t>(found) * 2 >= own.size()) return;
  throw InputError{"knows " + std::to_string(found) + " of " + std::to_string(own.size()) +
                       " words or pieces of the texts",
                   {.object = file.string()},
                   "give a language model of the texts' language, with the vocabulary that belongs "
                   "to its weights and, if pieces are read, to its SentencePiece model"};
}

/// Loads the weights in `pretrained.pth` into a language model over `words`. Returns false if there
/// is no such file. Throws `InputError` if most of the words are not in the file's vocabulary.
inline bool load_pretrained(const Job& job, model::LanguageModel& model,
                            const std::vector<std::string>& words) {
  if (!std::filesystem::exists(job.data / "pretrained.pth")) return false;
  const auto vocabulary = pretrained_vocabulary(job.data);
  const auto known = vocabulary.extension() == ".pkl" ? weights::read_pickled_words(vocabulary)
                                                      : text::read_word_list(vocabulary);
  check_same_language(words, known, vocabulary);
  const weights::FastaiFile file{linked_file(job.data / "pretrained.pth")};
  model::pretrained::load(model, words, file, known);
  file.check_unchanged();
  return true;
}

}  // namespace seqtrain::languages
