#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/post_processing.hpp>

namespace seqtrain::text {

/// The logits of a text: the mean of its windows' logits, or for each label the largest.
enum class WindowPooling { mean, max };

/// Settings of the windows in which a model reads a text or a pair: those of Hugging Face's
/// tokenizers with `return_overflowing_tokens`. The longer text of a pair is cut, the second if
/// both have the same length, and each window has the other text, as with `only_first` and
/// `only_second`. That other text has at most half of the room that the stride leaves, or what the
/// longer text does not need, and keeps its beginning.
struct Windows {
  std::size_t length = 0;  ///< most ids of a window, special tokens included
  std::size_t stride = 0;  ///< number of ids that a window has in common with the one before it
  WindowPooling pooling = WindowPooling::mean;
  Templates templates = {};  ///< special tokens of each window
  Id pad_id = 0;

  /// Throws `InputError` if a window of a single text has no room for an id that the one before it
  /// lacks.
  void validate() const { validate(templates.single); }

  /// Throws `InputError` if a window with these special tokens has no such room.
  void validate(const Template& around) const {
    const std::size_t special = around.special_tokens();
    if (length > special && stride < length - special) return;
    if (length <= special) {
      throw InputError{"a window of " + std::to_string(length) + " ids has no room for a text",
                       {.object = "max_length"}};
    }
    throw InputError{std::to_string(stride) + " leaves no room for new ids in a window of " +
                         std::to_string(length) + ", " + std::to_string(special) +
                         " of them special",
                     {.object = "stride"},
                     "a smaller stride or longer windows leave room"};
  }
};

/// A window of a text or a pair.
struct Window {
  std::vector<Id> input_ids = {};
  std::size_t first_segment = 0;  ///< number of ids before the first id of token type 1
  std::size_t second = 0;  ///< the begin of the second text; the number of ids if there is none
  bool of_second = false;  ///< true if the second text is cut
  /// The half-open range of ids of the text that is cut, without special tokens.
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The window of a text that contributes most to its answer: it has the largest logit for the label
/// that has the text's largest logit.
struct DecidingWindow {
  std::size_t index = 0;   ///< number of the window, from 0
  std::size_t count = 1;   ///< number of windows of the text
  bool of_second = false;  ///< see `Window`
  std::size_t begin = 0;
  std::size_t end = 0;
};

namespace detail {

/// The division of a text's or a pair's ids into windows.
struct WindowCuts {
  bool pair = false;
  bool first = true;       ///< true if the first text is cut
  std::size_t length = 0;  ///< ids of the text that is cut
  std::size_t kept = 0;    ///< ids of the other text in each window
  std::size_t part = 0;    ///< most ids of the cut text in a window
  std::size_t step = 1;    ///< ids from the beginning of a part to that of the next
};

/// Plans the windows of a row of `ids` ids whose second text, if it has one, begins at `second`.
[[nodiscard]] inline WindowCuts plan_windows(std::size_t ids, std::size_t second,
                                             const Windows& windows) {
  const bool pair = second < ids;
  const Template& special = pair ? windows.templates.pair : windows.templates.single;
  const std::size_t before = special.before.size() + special.between.size();
  const std::size_t end = pair ? second : ids - std::min(ids, special.after.size());
  if (ids < special.special_tokens() || end < before || ids - end < special.after.size()) {
    throw InputError{"a text needs its special tokens to be cut"};
  }
  const std::size_t first = end - before, last = ids - end - special.after.size();
  WindowCuts cuts{.pair = pair, .first = first > last, .length = std::max(first, last)};
  windows.validate(special);
  const std::size_t room = windows.length - special.special_tokens();
  const std::size_t unused = room - std::min(room, cuts.length);
  cuts.kept = std::min({first, last, std::max((room - windows.stride) / 2, unused)});
  cuts.part = room - cuts.kept;
  cuts.step = cuts.part - std::min(cuts.part, windows.stride);
  return cuts;
}

}  // namespace detail

/// Returns the number of windows of a text or a pair with `ids` ids, special tokens included. The
/// second text begins at `second`, which is `ids` for a single text.
[[nodiscard]] inline std::size_t count_windows(std::size_t ids, std::size_t second,
                                               const Windows& windows) {
  if (ids <= windows.length) return 1;
  const auto cuts = detail::plan_windows(ids, second, windows);
  if (cuts.length <= cuts.part) return 1;
  return 1 + (cuts.length - cuts.part + cuts.step - 1) / cuts.step;
}

/// Returns the windows of a text or a pair from its ids with their special tokens, which all
/// windows have as well. The second text begins at `second`, which is `ids.size()` for a single
/// text.
[[nodiscard]] inline std::vector<Window> windows_of(std::span<const Id> ids, std::size_t second,
                                                    const Windows& windows) {
  const auto cuts = detail::plan_windows(ids.size(), second, windows);
  const Template& special = cuts.pair ? windows.templates.pair : windows.templates.single;
  const std::size_t before = special.before.size(), between = special.between.size();
  const std::size_t begin = cuts.first ? before : second;
  std::vector<Window> all;
  for (std::size_t from = 0;; from += cuts.step) {
    const std::size_t to = std::min(cuts.length, from + cuts.part);
    auto& window =
        all.emplace_back(Window{.of_second = !cuts.first && cuts.pair, .begin = from, .end = to});
    const auto add = [&](std::size_t first, std::size_t count) {
      const auto part = ids.subspan(first, count);
      window.input_ids.insert(window.input_ids.end(), part.begin(), part.end());
    };
    add(0, cuts.first ? before : before + cuts.kept);
    if (!cuts.first) add(second - between, between);
    add(begin + from, to - from);
    if (cuts.first && cuts.pair) add(second - between, between + cuts.kept);
    add(ids.size() - special.after.size(), special.after.size());
    const std::size_t first_text = cuts.first ? to - from : cuts.kept;
    const auto& zeros = special.type_zero_between;
    window.first_segment =
        cuts.pair && zeros ? before + first_text + *zeros : window.input_ids.size();
    window.second = cuts.pair ? before + first_text + between : window.input_ids.size();
    if (to == cuts.length) return all;
  }
}

}  // namespace seqtrain::text
