#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/language_loader.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/text/loading/word_list.hpp>
#include <seqtrain/weights/fastai.hpp>

#include "job.hpp"
#include "pretrained_words.hpp"

/// Returns the texts as parallel streams, as many as their length allows.
[[nodiscard]] inline seqtrain::data::LanguageLoader streams(const Job& job,
                                                            seqtrain::data::EncodedSet texts,
                                                            std::size_t bptt = 70) {
  const std::size_t most = std::max<std::size_t>(1, texts.tokens() / (2 * bptt));
  return seqtrain::data::LanguageLoader{
      std::move(texts),
      {.batch_size = std::min(static_cast<std::size_t>(job.batch_size), most),
       .bptt = bptt,
       .seed = static_cast<std::uint64_t>(job.seed)}};
}

/// Returns the words that belong to the rows of `pretrained.pth`.
[[nodiscard]] inline std::vector<std::string> pretrained_words(const std::filesystem::path& data) {
  const auto list = data / "vocabulary.txt", pickle = data / "vocabulary.pkl";
  if (std::filesystem::exists(list)) return seqtrain::text::read_word_list(list);
  if (std::filesystem::exists(pickle)) {
    return seqtrain::weights::read_pickled_words(linked_file(pickle));
  }
  throw seqtrain::InputError{
      "is missing: pretrained.pth needs a file with the word of each row, one a line",
      {.object = list.string()},
      "add it, or vocabulary.pkl, the list that fastai has pickled"};
}

/// Loads the weights in `pretrained.pth` into a language model over `words`. Returns false if there
/// is no such file. Throws `InputError` if most of the file's words are others.
inline bool load_pretrained(const Job& job, seqtrain::model::LanguageModel& model,
                            const std::vector<std::string>& words) {
  using namespace seqtrain;
  if (!std::filesystem::exists(job.data / "pretrained.pth")) return false;
  const auto known = pretrained_words(job.data);
  const auto found = std::ranges::count_if(pretrained::places_of(words, known),
                                           [](std::int64_t place) { return place >= 0; });
  if (job.published && static_cast<std::size_t>(found) * 2 < words.size()) {
    throw InputError{"knows " + std::to_string(found) + " of " + std::to_string(words.size()) +
                         " words or pieces of the texts",
                     {.object = linked_file(job.data / "vocabulary.pkl").string()},
                     "give the vocabulary that belongs to spm.model and to weights.pth"};
  }
  const weights::FastaiFile file{linked_file(job.data / "pretrained.pth")};
  pretrained::load(model, words, file, known);
  file.check_unchanged();
  return true;
}
