#pragma once

#include <filesystem>

#include <seqtrain/model/predictor.hpp>
#if defined(WITH_SUBWORDS)
#include <seqtrain/subwords/subword_tokenizer.hpp>
#endif

/// Loads a model that was trained. A model that splits its texts by a SentencePiece model needs a
/// program that is built with that library.
inline seqtrain::model::Predictor load_predictor(const std::filesystem::path& directory,
                                                 const seqtrain::model::PredictorOptions& options) {
#if defined(WITH_SUBWORDS)
  if (const auto subwords = directory / "subwords.model"; std::filesystem::exists(subwords)) {
    return {directory, seqtrain::subwords::load_subwords(subwords), options};
  }
#endif
  return seqtrain::model::Predictor{directory, options};
}
