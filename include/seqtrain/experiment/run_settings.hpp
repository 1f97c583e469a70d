#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/text_folder.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::experiment {

/// Computes the size and the checksum of all bytes that are added.
class Fingerprint {
 public:
  void add(std::span<const std::byte> bytes) {
    size_ += bytes.size();
    checksum_.update(bytes);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span{text})); }

  [[nodiscard]] std::string text() const {
    return std::to_string(size_) + " bytes, crc32c " + checksum_.hex();
  }

 private:
  std::uint64_t size_ = 0;
  Crc32c checksum_;
};

/// Returns the size and the checksum of the contents of files, one after the other. An empty file
/// adds nothing.
inline std::string fingerprint(std::span<const std::filesystem::path> files) {
  Fingerprint print;
  for (const auto& file : files) {
    std::error_code ignored;
    if (std::filesystem::file_size(file, ignored) == 0) continue;
    const MappedFile content{file, MappedFile::Pages::read_only, MappedFile::Changes::watched};
    print.add(content.bytes());
    content.check_unchanged();
  }
  return print.text();
}

/// Returns the size and the checksum of a file's contents, or of the files directly inside a
/// directory. Names do not count.
inline std::string fingerprint(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files{path};
  if (std::filesystem::is_directory(path)) {
    files.clear();
    for (const auto& entry : std::filesystem::directory_iterator{path}) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::ranges::sort(files);
  }
  return fingerprint(std::span<const std::filesystem::path>{files});
}

/// Returns the size and the checksum of a model's files that determine results: config.json, the
/// weights that are loaded and the tokenizer.
inline std::string fingerprint_of_model(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files{directory / "config.json"};
  if (weights::is_adapter(directory)) {
    files.push_back(directory / weights::adapter_config_name);
    files.push_back(weights::adapter_weights(directory));
  } else {
    std::ranges::copy(weights::weights_files(directory), std::back_inserter(files));
  }
  if (const auto form = weights::read_sentence_classifier(directory)) {
    files.push_back(form->dense / "model.safetensors");
  }
  std::ranges::copy(text::tokenizer_files(directory), std::back_inserter(files));
  std::erase_if(files, [](const auto& file) { return !std::filesystem::is_regular_file(file); });
  return fingerprint(std::span<const std::filesystem::path>{files});
}

/// Returns the size and the checksum of examples: of their files, or of the labels and texts in a
/// directory.
inline std::string fingerprint_of_examples(const std::filesystem::path& path,
                                           const data::ReadOptions& options = {}) {
  const auto files = data::files_at(path, options);
  if (files.front() != path || !data::is_text_folder(path)) {
    return fingerprint(std::span<const std::filesystem::path>{files});
  }
  const data::TextFolder folder{path};
  Fingerprint print;
  for (const auto& part : folder.parts(folder.bytes())) {
    folder.read(part, [&print](const data::Example& example) {
      print.add(*example.label);
      print.add(example.text);
    });
  }
  return print.text();
}

/// Returns the flags that determine a run's results, with fingerprints in place of paths and the
/// precision in which the model computes.
inline train::Pairs run_settings(train::Pairs determining, const cli::TrainFlags& flags,
                                 std::string_view precision) {
  determining.emplace_back("model", fingerprint_of_model(flags.model));
  const auto fingerprint_of = [&](const std::string& file) {
    return fingerprint_of_examples(file, flags.read_options());
  };
  determining.emplace_back("train-file", fingerprint_of(flags.train_file));
  const bool held_out = flags.dev_fraction > 0;
  determining.emplace_back("dev-file", held_out ? "" : fingerprint_of(flags.dev_file));
  determining.emplace_back("dev-fraction", held_out ? cli::flag_text(flags.dev_fraction) : "");
  determining.emplace_back("precision", precision);
  if (flags.fold) determining.emplace_back("fold", std::to_string(flags.fold->number));
  return determining;
}

}  // namespace seqtrain::experiment
