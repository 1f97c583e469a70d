#pragma once

#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/rembert/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>

namespace seqtrain::model {

/// RemBERT (Chung et al. 2021): BERT for a hundred languages, with smaller embeddings.
struct RemBert : BertFamily<RemBert, RemBertConfig> {
  static constexpr std::string_view model_type = "rembert";
  static constexpr std::string_view prefix = "rembert";
  static constexpr std::string_view classifier = "RemBertForSequenceClassification";
  static constexpr std::string_view projection = "encoder.embedding_hidden_mapping_in";

  static constexpr auto read_config = read_rembert_config;

  static HeadForm head_form(const Config&) { return {.dense = "rembert.pooler.dense"}; }
};

}  // namespace seqtrain::model
