#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <seqtrain/cli/example_length.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encode_file_options.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::experiment {

/// Logs how many records of a file were left out, if there are any.
inline void log_left_out(const log::Log& log, const std::string& file,
                         const data::EncodedFile& encoded) {
  if (encoded.left_out == 0) return;
  log.info(file + ": left out " + std::to_string(encoded.left_out) +
           " records without a gold label");
}

/// Encodes the files of a run with one tokenizer, shows a progress bar if that takes long, and logs
/// how many records were left out.
template <class T>
class FileEncoder {
 public:
  FileEncoder(const cli::TrainFlags& flags, const T& tokenizer, const data::Labels& labels,
              std::int64_t max_length_of_model, log::Log log)
      : log_{std::move(log)}, tokenizer_{&tokenizer}, labels_{&labels} {
    options_.read = flags.read_options();
    options_.encode.max_length =
        cli::example_length(flags.max_length, max_length_of_model, tokenizer.max_length());
    cli::require(options_.encode.max_length > tokenizer.special_tokens(true), "max-length",
                 "must be above the " + std::to_string(tokenizer.special_tokens(true)) +
                     " special tokens of a pair");
    max_length_ = options_.encode.max_length;
    if (flags.texts_apart) options_.encode.max_length *= 2;  // until `set_texts`
    if (tokenizer.windows()) {
      options_.encode.max_length = data::EncodedSet::most_ids_a_row;
    }
    options_.workers = static_cast<std::size_t>(flags.threads);
  }

  /// Sets how files are read from now on.
  void set_read(data::ReadOptions read) { options_.read = std::move(read); }

  /// Sets what becomes of the two texts of an example from now on.
  void set_texts(data::Texts texts) {
    options_.texts = texts;
    if (texts == data::Texts::apart) options_.encode.max_length = max_length_;
  }

  /// Encodes a file into memory, or into the file `place` if one is given. Throws `InputError` with
  /// file and line at the first wrong record.
  data::EncodedFile operator()(const std::string& file, double fraction = 1,
                               const std::filesystem::path& place = {}) {
    log::ByteBar<> bar{"encode " + file, {.enabled = log_.on_terminal()}};
    options_.fraction = fraction;
    options_.file = place;
    options_.progress = [&bar](const data::EncodeProgress& progress) {
      bar(static_cast<std::int64_t>(progress.bytes),
          static_cast<std::int64_t>(progress.total_bytes));
    };
    auto encoded = data::encode_file(file, *tokenizer_, *labels_, options_);
    log_left_out(log_, file, encoded);
    return encoded;
  }

  /// Returns the size in bytes of a file or of all files of a split, or 0 for a directory of texts.
  [[nodiscard]] std::uintmax_t bytes_of(const std::string& file) const {
    return data::bytes_of(data::files_at(file, options_.read));
  }

  /// Opens a set that was encoded into a file.
  [[nodiscard]] data::EncodedFile open(const std::filesystem::path& place) const {
    return data::open_encoded_file(place, *tokenizer_, *labels_);
  }

 private:
  log::Log log_;
  const T* tokenizer_;
  const data::Labels* labels_;
  std::size_t max_length_ = 0;  ///< of a row
  data::EncodeFileOptions options_;
};

}  // namespace seqtrain::experiment
