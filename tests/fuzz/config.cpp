#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families/albert/config.hpp>
#include <seqtrain/model/families/bart/config.hpp>
#include <seqtrain/model/families/deberta/config.hpp>
#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/families/distilbert/config.hpp>
#include <seqtrain/model/families/electra/config.hpp>
#include <seqtrain/model/families/ernie/config.hpp>
#include <seqtrain/model/families/esm/config.hpp>
#include <seqtrain/model/families/eurobert/config.hpp>
#include <seqtrain/model/families/gemma/config.hpp>
#include <seqtrain/model/families/gpt2/config.hpp>
#include <seqtrain/model/families/gte/config.hpp>
#include <seqtrain/model/families/llama/config.hpp>
#include <seqtrain/model/families/longformer/config.hpp>
#include <seqtrain/model/families/megatron_bert/config.hpp>
#include <seqtrain/model/families/mistral/config.hpp>
#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/families/mpnet/config.hpp>
#include <seqtrain/model/families/nomic_bert/config.hpp>
#include <seqtrain/model/families/olmo2/config.hpp>
#include <seqtrain/model/families/phi3/config.hpp>
#include <seqtrain/model/families/qwen2/config.hpp>
#include <seqtrain/model/families/qwen3/config.hpp>
#include <seqtrain/model/families/rembert/config.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roformer/config.hpp>
#include <seqtrain/model/families/smollm3/config.hpp>
#include <seqtrain/model/families/xlm_roberta_xl/config.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/write_config.hpp>

#include "fuzz.hpp"

namespace seqtrain::fuzz {
namespace {

/// Checks that an accepted config can be written for other labels and read again.
template <class Read>
void check(std::string_view text, const Read& read) {
  accepts([&] {
    const auto config = read(weights::ConfigFile::parse(text));
    const std::vector<std::string> labels{"no", "yes"};
    const auto again =
        read(weights::ConfigFile::parse(weights::classifier_config(text, "Classifier", labels)));
    require(again.labels == labels);
    require(again.hidden_size == config.hidden_size);
    require(again.layer_norm_eps == config.layer_norm_eps);
  });
}

/// Checks that an accepted config of an adapter is written and read again with equal facts.
void check_adapter(std::string_view text) {
  accepts([&] {
    const auto read = [](std::string_view from) {
      return weights::adapter_config_in(json::Document::parse(from, "adapter").root());
    };
    const auto config = read(text), again = read(weights::adapter_config_text(config));
    require(again.lora.rank == config.lora.rank && again.lora.scale() == config.lora.scale());
    require(again.base == config.base && again.revision == config.revision);
  });
}

}  // namespace
}  // namespace seqtrain::fuzz

void seqtrain::fuzz::run(Input input) {
  const std::string_view text = input.text();
  check(text, [](const auto& file) { return weights::read_config(file); });
  check(text, [](const auto& file) { return model::read_roberta_config(file); });
  check(text, model::read_distilbert_config);
  check(text, model::read_electra_config);
  check(text, model::read_mpnet_config);
  check(text, model::read_ernie_config);
  check(text, model::read_esm_config);
  check(text, model::read_eurobert_config);
  check(text, model::read_gemma2_config);
  check(text, model::read_gemma3_text_config);
  check(text, model::read_gte_config);
  check(text, model::read_gte_new_config);
  check(text, model::read_llama_config);
  check(text, model::read_longformer_config);
  check(text, model::read_megatron_bert_config);
  check(text, model::read_mistral_config);
  check(text, model::read_nomic_bert_config);
  check(text, model::read_olmo2_config);
  check(text, model::read_phi3_config);
  check(text, model::read_qwen2_config);
  check(text, model::read_qwen3_config);
  check(text, model::read_rembert_config);
  check(text, model::read_roformer_config);
  check(text, model::read_smollm3_config);
  check(text, model::read_xlm_roberta_xl_config);
  check(text, model::read_bart_config);
  check(text, model::read_gpt2_config);
  check(text, model::read_albert_config);
  check(text, model::read_modernbert_config);
  check(text, model::read_deberta_config);
  check(text, model::read_deberta_v2_config);
  check_adapter(text);
}
