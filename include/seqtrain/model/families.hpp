#pragma once

#include <string_view>

#include <seqtrain/model/bert/embeddings.hpp>
#include <seqtrain/model/bert/encoder.hpp>
#include <seqtrain/model/bert/heads.hpp>

namespace seqtrain::model {

/// The differences between BERT and RoBERTa. `model_type` is config.json's. The names of the
/// encoder's parameters begin with `prefix`.
struct Bert {
  static constexpr std::string_view model_type = "bert";
  static constexpr std::string_view prefix = "bert.";
  static constexpr bool positions_behind_padding = false;
  using Embeddings = BertEmbeddings;
  using Head = BertHead;
};

struct Roberta {
  static constexpr std::string_view model_type = "roberta";
  static constexpr std::string_view prefix = "roberta.";
  static constexpr bool positions_behind_padding = true;
  using Embeddings = RobertaEmbeddings;
  using Head = RobertaHead;
};

}  // namespace seqtrain::model
