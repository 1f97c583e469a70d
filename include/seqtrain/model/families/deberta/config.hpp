#pragma once

#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads the settings of the first DeBERTa. Throws `InputError` if one is missing, wrong or not
/// supported.
inline DebertaV2Config read_deberta_config(const weights::ConfigFile& file) {
  DebertaV2Config config{weights::read_config(file, detail::deberta_defaults(50265))};
  detail::read_deberta_fields(file, config);
  bool mixes_heads = false;
  weights::read(file.root(), "talking_head", mixes_heads);
  weights::FieldCheck{file.name()}.require(!mixes_heads, "talking_head", "true is not supported");
  return config;
}

}  // namespace seqtrain::model
