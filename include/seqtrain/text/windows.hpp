#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Which logits a text has: the mean of its windows' logits, or for each label the largest.
enum class WindowPooling { mean, max };

/// The windows in which a model reads a text: those of Hugging Face's tokenizers with
/// `return_overflowing_tokens`.
struct Windows {
  std::size_t length = 0;  ///< most ids of a window, special tokens included
  std::size_t stride = 0;  ///< number of ids that a window has in common with the one before it
  WindowPooling pooling = WindowPooling::mean;
  std::size_t before = 0;  ///< special tokens at the beginning of a text, and of each window
  std::size_t after = 0;   ///< special tokens at the end of a text, and of each window
  Id pad_id = 0;

  /// Throws `InputError` if a window has no room for an id that the one before it lacks.
  void validate() const {
    const std::size_t special = before + after;
    if (length > special && stride < length - special) return;
    if (length <= special) {
      throw InputError{"a window of " + std::to_string(length) + " ids has no room for a text",
                       {.object = "max_length"}};
    }
    throw InputError{std::to_string(stride) + " leaves no room for new ids in a window of " +
                         std::to_string(length) + ", " + std::to_string(special) +
                         " of them special",
                     {.object = "stride"},
                     "give a smaller --stride or a larger --max-length"};
  }
};

/// Returns the number of windows of a text with `ids` ids, special tokens included.
[[nodiscard]] inline std::size_t count_windows(std::size_t ids, const Windows& windows) {
  if (ids <= windows.length) return 1;
  const std::size_t step = windows.length - windows.before - windows.after - windows.stride;
  return 1 + (ids - windows.length + step - 1) / step;
}

/// Returns the windows of a text's ids. All of them have the text's special tokens around them.
[[nodiscard]] inline std::vector<std::vector<Id>> windows_of(std::span<const Id> ids,
                                                             const Windows& windows) {
  const std::size_t special = windows.before + windows.after;
  if (ids.size() < special) throw InputError{"a text needs its special tokens to be cut"};
  const auto first = ids.first(windows.before), last = ids.last(windows.after);
  auto rest = ids.subspan(windows.before, ids.size() - special);
  std::vector<std::vector<Id>> all;
  while (true) {
    const auto part = rest.first(std::min(rest.size(), windows.length - special));
    auto& window = all.emplace_back(first.begin(), first.end());
    window.insert(window.end(), part.begin(), part.end());
    window.insert(window.end(), last.begin(), last.end());
    if (part.size() == rest.size()) return all;
    rest = rest.subspan(part.size() - windows.stride);
  }
}

}  // namespace seqtrain::text
