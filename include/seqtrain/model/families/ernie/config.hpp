#pragma once

#include <cstdint>

#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ERNIE's config.json.
struct ErnieConfig : weights::ModelConfig {
  std::int64_t task_types = 0;  ///< rows of the table of tasks; 0 if the model has none
};

/// Reads ERNIE's settings. Throws `InputError` if one is missing, wrong or not supported.
inline ErnieConfig read_ernie_config(const weights::ConfigFile& file) {
  const std::int64_t rows = weights::count_in(file, "task_type_vocab_size", 3);
  bool has_tasks = false;
  weights::read(file.root(), "use_task_id", has_tasks);
  return {weights::read_config(file), has_tasks ? rows : 0};
}

}  // namespace seqtrain::model
