#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/model/architecture.hpp>
#include <seqtrain/model/families/albert/albert.hpp>
#include <seqtrain/model/families/bart/bart.hpp>
#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/data2vec_text/data2vec_text.hpp>
#include <seqtrain/model/families/deberta/deberta.hpp>
#include <seqtrain/model/families/deberta_v2/deberta_v2.hpp>
#include <seqtrain/model/families/distilbert/distilbert.hpp>
#include <seqtrain/model/families/electra/electra.hpp>
#include <seqtrain/model/families/ernie/ernie.hpp>
#include <seqtrain/model/families/esm/esm.hpp>
#include <seqtrain/model/families/eurobert/eurobert.hpp>
#include <seqtrain/model/families/gemma/gemma.hpp>
#include <seqtrain/model/families/gpt2/gpt2.hpp>
#include <seqtrain/model/families/gte/gte.hpp>
#include <seqtrain/model/families/llama/llama.hpp>
#include <seqtrain/model/families/longformer/longformer.hpp>
#include <seqtrain/model/families/megatron_bert/megatron_bert.hpp>
#include <seqtrain/model/families/mistral/mistral.hpp>
#include <seqtrain/model/families/modernbert/modernbert.hpp>
#include <seqtrain/model/families/mpnet/mpnet.hpp>
#include <seqtrain/model/families/nomic_bert/nomic_bert.hpp>
#include <seqtrain/model/families/olmo2/olmo2.hpp>
#include <seqtrain/model/families/phi3/phi3.hpp>
#include <seqtrain/model/families/qwen2/qwen2.hpp>
#include <seqtrain/model/families/qwen3/qwen3.hpp>
#include <seqtrain/model/families/rembert/rembert.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/model/families/roberta_prelayernorm/roberta_prelayernorm.hpp>
#include <seqtrain/model/families/roformer/roformer.hpp>
#include <seqtrain/model/families/smollm3/smollm3.hpp>
#include <seqtrain/model/families/xlm_roberta_xl/xlm_roberta_xl.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// A list of families.
template <class... Families>
struct ArchitectureList {
  static_assert((is_architecture<Families>() && ...));

  /// Calls `use.operator()<Family>()` of the family that a config.json names. Throws `InputError`
  /// with the families that there are if it is none of them.
  template <class Use>
  static void visit(const weights::ConfigFile& file, const Use& use) {
    const std::string name = file.model_type();
    const bool found =
        ((name == Families::model_type && (use.template operator()<Families>(), true)) || ...);
    if (found) return;
    const std::vector<std::string_view> supported{Families::model_type...};
    throw file.root()
        .at("model_type")
        .error("'" + name + "' is not supported", "supported are " + joined(supported));
  }
};

/// The families that `load_classifier` knows.
using Architectures =
    ArchitectureList<Bert, Roberta, DistilBert, XlmRoberta, Camembert, Electra, Mpnet, Albert,
                     ModernBert, DebertaV2, Ernie, Data2VecText, MegatronBert, RobertaPreLayerNorm,
                     XlmRobertaXl, RemBert, Bart, Deberta, EuroBert, NomicBert, Gte, GteNew,
                     RoFormer, Esm, Longformer, Gpt2, Llama, Mistral, Qwen2, Qwen3, SmolLM3, Olmo2,
                     Gemma2, Gemma3Text, Phi3>;

}  // namespace seqtrain::model
