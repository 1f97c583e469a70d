#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/weights/adapter.hpp>

namespace seqtrain::experiment {

/// Returns the flags with a local path in place of the teacher's address or name on the hub.
[[nodiscard]] inline cli::TrainFlags with_local_teacher(cli::TrainFlags flags,
                                                        const storage::Options& storages) {
  if (flags.teacher.ends_with(".jsonl")) {
    flags.teacher = storage::fetch(flags.teacher, storages).string();
  } else if (!flags.teacher.empty()) {
    flags.teacher = storage::find_model(flags.teacher, storages).directory.string();
  }
  return flags;
}

/// Returns the size and the checksum of what determines a local teacher's answers: its file, or its
/// model's files with those of a base on the disk.
[[nodiscard]] inline std::string fingerprint_of_teacher(const std::filesystem::path& teacher) {
  const auto print = [](const std::filesystem::path& place) {
    const bool is_model =
        std::filesystem::exists(place / "config.json") || weights::is_adapter(place);
    return is_model ? fingerprint_of_model(place) : fingerprint(place);
  };
  if (!weights::is_adapter(teacher)) return print(teacher);
  const std::filesystem::path base = storage::base_of(weights::read_adapter_config(teacher));
  std::error_code none;
  return print(teacher) + (std::filesystem::is_directory(base, none) ? print(base) : "");
}

/// Returns the options for reading the training file. Its examples may lack labels if there is a
/// teacher or the model needs none.
[[nodiscard]] inline data::ReadOptions train_read_options(const cli::TrainFlags& flags) {
  auto options = flags.read_options(data::Split::train);
  options.label_optional = options.label_optional || !flags.teacher.empty();
  return options;
}

/// Returns a set with these targets [rows, n] in place of its own. Copies nothing.
[[nodiscard]] inline data::EncodedSet with_targets(data::EncodedSet set,
                                                   std::vector<float> targets) {
  using Memory = std::pair<data::EncodedSet, std::vector<float>>;
  const auto memory = std::make_shared<const Memory>(std::move(set), std::move(targets));
  const auto& [rows, numbers] = *memory;
  auto arrays = rows.arrays();
  arrays.targets = numbers;
  const std::size_t n = numbers.size() / std::max<std::size_t>(rows.size(), 1);
  return {rows.vocab_size(), rows.pad_id(), n, arrays, memory};
}

/// The arguments of `ask_teacher`.
struct TeacherQuestion {
  const storage::Options& storages;  ///< with the log
  const cli::TrainFlags& flags;      ///< with local paths
  const data::Labels& labels;
  std::span<const std::size_t> rows;  ///< the records of the training file to learn from, ascending
  std::size_t records;                ///< the number of all its records
  c10::Device device;
  model::Precision precision;
  std::stop_token stop;
};

/// Returns the teacher's logits [rows, labels], in the order of the run's labels. If the teacher is
/// a model, it answers the texts and the answers are kept in the user's cache, from which any run
/// with the same texts and the same teacher takes them. Throws `InputError` if the teacher has
/// other labels, or its answers are not those to the training file.
[[nodiscard]] SEQTRAIN_SEPARATE std::vector<float> ask_teacher(const TeacherQuestion& question);

}  // namespace seqtrain::experiment

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/experiment/src/teacher.hpp>
#endif
