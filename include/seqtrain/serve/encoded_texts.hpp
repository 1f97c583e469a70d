#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::serve {

/// The windows of a text that is read in several of them.
struct CutText {
  std::size_t first = 0;  ///< the number of its first window among the parts
  std::vector<text::DecidingWindow> windows = {};
};

/// The texts of a request as the model takes them: whole or, if they are long and the model reads
/// windows, in windows, each of which is a part.
struct EncodedTexts {
  std::vector<predict::Encoded> parts = {};
  std::vector<CutText> cuts = {};  ///< the texts that have several parts, in order
};

/// Returns the windows in which a model reads texts, or null.
template <Servable P>
[[nodiscard]] const text::Windows* windows_of(const P& predictor) {
  if constexpr (predict::ReadsWindows<P>) {
    if (const auto& windows = predictor.windows()) return &*windows;
  }
  return nullptr;
}

/// Returns the most ids of a text that the server reads: as many as the model takes, or as
/// `max_windows` windows have.
template <Servable P>
[[nodiscard]] std::size_t longest_text(const P& predictor, std::size_t max_windows) {
  const auto* const windows = windows_of(predictor);
  if (windows == nullptr) return predictor.max_length();
  const std::size_t step =
      windows->length - windows->templates.single.special_tokens() - windows->stride;
  const std::size_t more = std::min(max_windows - 1, predictor.max_length() / step);
  return std::min(predictor.max_length(), windows->length + more * step);
}

/// Returns the result of `encode`. An exception from it becomes an `HttpError`.
template <class Encode>
auto tokenized(const Encode& encode) {
  try {
    return encode();
  } catch (const std::exception& error) {
    throw HttpError{422, error_type::tokenizer, std::string{"Tokenization error: "} + error.what()};
  }
}

namespace detail {

[[noreturn]] inline void refuse_length(const std::string& limit, const std::string& given,
                                       const std::string& remedy) {
  throw too_large("`inputs` must have " + limit + ". Given: " + given +
                  "; \"truncate\": true cuts longer texts" + remedy);
}

/// Adds a text of `count` windows. If there are more than `most`, it leaves out the last ones or,
/// if the beginning of the text is to be cut, the first ones. Returns the number of ids that are
/// read.
inline std::size_t add_windows(const predict::Encoded& text, const text::Windows& windows,
                               std::size_t most, bool leaves_out_first, EncodedTexts& out) {
  auto all = text::windows_of(text.input_ids, text.first_segment, windows);
  const std::size_t excess = all.size() - std::min(all.size(), most);
  const std::size_t length = all.back().end;
  const std::size_t begin = leaves_out_first ? excess : 0;
  const std::size_t end = all.size() - (leaves_out_first ? 0 : excess);
  CutText& cut = out.cuts.emplace_back(CutText{.first = out.parts.size()});
  for (std::size_t i = begin; i < end; ++i) {
    auto& window = all[i];
    cut.windows.push_back({i, all.size(), window.of_second, window.begin, window.end});
    out.parts.push_back({std::move(window.input_ids), window.second, text.adapter});
  }
  return text.input_ids.size() - length + (all[end - 1].end - all[begin].begin);
}

}  // namespace detail

/// Encodes a text and adds it to `out`. Returns the number of ids that the model reads of it.
/// Throws an `HttpError` if the text cannot be encoded, or if it is too long and may not be cut.
template <Servable P>
std::size_t add_text(const P& predictor, const PredictInput& text, std::size_t max_windows,
                     EncodedTexts& out) {
  const std::size_t most = longest_text(predictor, max_windows);
  auto encoded =
      tokenized([&] { return encode(predictor, text.text, text.pair, text.truncation, most); });
  const std::size_t length = encoded.input_ids.size();
  const auto* const windows = windows_of(predictor);
  if (windows != nullptr && length > windows->length) {
    const std::size_t count =
        tokenized([&] { return text::count_windows(length, encoded.first_segment, *windows); });
    if (count > max_windows && text.truncation == Truncation::none) {
      detail::refuse_length("at most " + std::to_string(max_windows) + " windows of " +
                                std::to_string(windows->length) + " tokens",
                            std::to_string(count) + " windows",
                            ", and a larger --max-windows of the server admits them");
    }
    if (count > 1) {
      return detail::add_windows(encoded, *windows, max_windows,
                                 text.truncation == Truncation::left, out);
    }
  } else if (length > predictor.max_length()) {
    detail::refuse_length("less than " + std::to_string(predictor.max_length() + 1) + " tokens",
                          std::to_string(length), "");
  }
  out.parts.push_back(std::move(encoded));
  return length;
}

}  // namespace seqtrain::serve
