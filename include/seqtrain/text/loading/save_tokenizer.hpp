#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::text {

/// Returns the text of a tokenizer_config.json with these settings for long texts. transformers
/// cuts at the same side and length. It keeps the keys for head-tail and windows, and ignores them.
[[nodiscard]] inline std::string with_long_texts(std::string_view settings, LongTexts way,
                                                 std::size_t max_length,
                                                 const Windows& windows = {}) {
  std::vector<std::string_view> replaced{"truncation_side", "long_texts", "window_stride",
                                         "window_pooling"};
  const bool limited = max_length != EncodeOptions{}.max_length;
  if (limited) replaced.insert(replaced.end(), {"model_max_length", "max_len"});
  const auto document = json::Document::parse(settings, "tokenizer_config.json");
  json::Writer out{2};
  out.begin_object();
  for (const auto& [key, value] : document.root().members()) {
    if (std::ranges::count(replaced, key) > 0) continue;
    out.key(key).raw(simdjson::minify(value.element()));
  }
  out.member("truncation_side", way == LongTexts::tail ? "left" : "right");
  if (way == LongTexts::head_tail) out.member("long_texts", "head-tail");
  if (way == LongTexts::windows) {
    out.member("long_texts", "windows").member("window_stride", windows.stride);
    if (windows.pooling == WindowPooling::max) out.member("window_pooling", "max");
  }
  if (limited) out.member("model_max_length", max_length);
  return out.end_object().text() + "\n";
}

/// Copies a tokenizer's files to a directory, with its settings for long texts if
/// `AnyTokenizer::set_long_texts` has chosen them.
inline void save_tokenizer(const AnyTokenizer& tokenizer, const std::filesystem::path& directory) {
  std::string settings = "{}";
  for (const auto& file : tokenizer.files()) {
    std::filesystem::copy_file(file, directory / file.filename(),
                               std::filesystem::copy_options::overwrite_existing);
    if (file.filename() == "tokenizer_config.json") settings = MappedFile{file}.text();
  }
  const auto way = tokenizer.chosen_long_texts();
  if (!way) return;
  write_file_atomically(directory / "tokenizer_config.json",
                        with_long_texts(settings, *way, tokenizer.max_length(),
                                        tokenizer.windows().value_or(Windows{})));
}

}  // namespace seqtrain::text
