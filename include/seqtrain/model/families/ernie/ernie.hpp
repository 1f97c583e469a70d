#pragma once

#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/ernie/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>

namespace seqtrain::model {

/// ERNIE (Sun et al. 2019, 2021): BERT, to whose embeddings later versions add one of the task.
struct Ernie : BertFamily<Ernie, ErnieConfig> {
  static constexpr std::string_view model_type = "ernie";
  static constexpr std::string_view prefix = "ernie";
  static constexpr std::string_view classifier = "ErnieForSequenceClassification";

  static constexpr auto read_config = read_ernie_config;

  static EmbeddingForm embedding_form(const Config& config) {
    return {.task_types = config.task_types};
  }
  static HeadForm head_form(const Config&) { return {.dense = "ernie.pooler.dense"}; }
};

}  // namespace seqtrain::model
