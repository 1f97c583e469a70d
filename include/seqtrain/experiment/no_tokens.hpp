#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/experiment/file_encoder.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::experiment {

/// A tokenizer that gives each text one id: sets of examples then have labels and no texts.
struct NoTokens {
  struct Scratch {};

  std::size_t encode(std::string_view text, std::optional<std::string_view> pair,
                     const text::EncodeOptions&, Scratch&, std::vector<text::Id>& out) const {
    if (!text::is_valid_utf8(text) || (pair && !text::is_valid_utf8(*pair))) {
      throw InputError{"the text is not UTF-8"};
    }
    out.push_back(0);
    return 1;
  }
  [[nodiscard]] std::size_t vocab_size() const { return 1; }
  [[nodiscard]] text::Id pad_id() const { return 0; }
  /// Returns 0.
  [[nodiscard]] std::size_t special_tokens(bool) const { return 0; }
};

/// Reads the labels of a file's examples, and logs how many records were left out. Throws
/// `InputError` with file and line at the first wrong record.
[[nodiscard]] inline data::EncodedFile read_labels(const std::string& file,
                                                   const data::ReadOptions& read,
                                                   const data::Labels& labels,
                                                   const cli::TrainFlags& flags,
                                                   const log::Log& log) {
  const data::EncodeFileOptions options{.read = read,
                                        .workers = static_cast<std::size_t>(flags.threads)};
  auto encoded = data::encode_file(file, NoTokens{}, labels, options);
  log_left_out(log, file, encoded);
  return encoded;
}

}  // namespace seqtrain::experiment
