#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// The size and the checksum of a file, or of all files right in a directory: what it holds,
/// however it is called.
inline std::string fingerprint(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files{path};
  if (std::filesystem::is_directory(path)) {
    files.clear();
    for (const auto& entry : std::filesystem::directory_iterator{path}) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::ranges::sort(files);
  }
  std::uint64_t size = 0;
  Crc32c checksum;
  for (const auto& file : files) {
    const MappedFile bytes{file};
    size += bytes.size();
    checksum.update(bytes.bytes());
  }
  std::array<char, 16> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", static_cast<unsigned>(checksum.value()));
  return std::to_string(size) + " bytes, crc32c " + hex.data();
}

/// Of all flags with their values those that the mathematics of a run follow from; in place of the
/// inputs' paths, what they hold; and the precision in which the model does compute.
inline train::Pairs run_settings(const train::Pairs& values, const TrainFlags& flags,
                                 std::string_view precision) {
  constexpr std::array<std::string_view, 20> others{
      "model",     "train-file",       "dev-file",         "test-file",
      "device",    "precision",        "threads",          "dataloader-num-workers",
      "log-every", "output-dir",       "overwrite",        "model-name",
      "job-dir",   "checkpoint-dir",   "checkpoint-every", "checkpoint-minutes",
      "resume",    "keep-checkpoints", "grace-seconds",    "ca-file"};
  train::Pairs settings;
  for (const auto& pair : values) {
    if (std::ranges::find(others, pair.first) == others.end()) settings.push_back(pair);
  }
  settings.emplace_back("model", fingerprint(flags.model));
  settings.emplace_back("train-file", fingerprint(flags.train_file));
  settings.emplace_back("dev-file", fingerprint(flags.dev_file));
  settings.emplace_back("precision", precision);
  return settings;
}

}  // namespace seqtrain::cli
