#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/words.hpp>

/// The share that each word of a text has in a logit: its Shapley value (Lundberg and Lee 2017).
/// It is the mean, over orders in which the words are added to an empty text, of the logit's
/// change as the word comes. So the shares of all words sum up to the logit of the text minus that
/// of an empty text.
namespace seqtrain::predict {

/// Options of `WordShares`.
struct ExplainOptions {
  /// The most texts, with some of the words each, that a model reads for one explanation. With all
  /// sets of words among them the shares are exact. If there are too few for each word to come once
  /// in an order and once in its reverse, neighbouring words have one share.
  std::size_t passes = 200;

  static constexpr std::size_t fewest = 10;   ///< the least number of passes
  static constexpr std::size_t most = 10000;  ///< the greatest number of passes
};

/// The share of a word, or of several words that stand together, in a logit.
struct WordShare {
  bool of_second = false;  ///< the word is in the second text of a pair
  std::size_t begin = 0;   ///< the half-open range of bytes of that text
  std::size_t end = 0;
  double share = 0;
};

/// The shares that the words of a text have in one of its logits.
struct Explanation {
  std::size_t output = 0;  ///< the number of the logit
  double logit = 0;
  double baseline = 0;  ///< the logit of an empty text
  /// The difference of the sum of the shares from `logit - baseline`, which rounding alone should
  /// cause: it tells whether the model gives a text the same logit twice.
  double gap = 0;
  std::size_t passes = 0;  ///< texts that the model has read for it
  bool exact = false;      ///< true if they have all sets of words
  std::vector<WordShare> words = {};
};

/// A text with some of its words.
struct PartialText {
  std::string text = {};
  std::optional<std::string> pair = {};
};

/// The texts that a model has to read for an explanation, and the shares that their logits give.
class WordShares {
 public:
  /// Returns the ids of a text or a pair, `cut` as those that the model reads, or else whole.
  using Encode =
      std::function<Encoded(std::string_view text, std::optional<std::string_view> pair, bool cut)>;

  /// Words that the model does not read, because they are cut off, have no share. Throws
  /// `InputError` as `encode` does.
  WordShares(std::string text, std::optional<std::string> pair, const Encode& encode,
             const ExplainOptions& options = {})
      : whole_{std::move(text), std::move(pair)} {
    add_words(false, whole_.text);
    if (whole_.pair) add_words(true, *whole_.pair);
    leave_out_unread(encode);
    group(options.passes / 2);
    const std::size_t count = units_.size();
    (void)add(std::vector<bool>(count, true));
    none_ = add(std::vector<bool>(count, false));
    exact_ = count < 8 * sizeof(std::size_t) - 1 && (std::size_t{1} << count) <= options.passes;
    exact_ ? plan_all_sets() : plan_orders(options.passes);
    replace_empty(encode);
  }

  /// Returns the texts that the model has to read. The first one has all words.
  [[nodiscard]] const std::vector<PartialText>& texts() const { return texts_; }

  /// Returns the explanation of a logit, given the logits of `texts()` [texts, outputs] and the one
  /// that the model has given the whole text.
  [[nodiscard]] Explanation explanation(const metrics::Logits& logits, std::size_t output,
                                        double answered) const {
    const auto value = [&](std::size_t text) {
      return double{logits(static_cast<Eigen::Index>(text), static_cast<Eigen::Index>(output))};
    };
    Explanation made{.output = output,
                     .logit = answered,
                     .baseline = value(none_),
                     .passes = texts_.size(),
                     .exact = exact_,
                     .words = units_shown()};
    for (const auto& [unit, with, without, weight] : steps_) {
      made.words[unit].share += weight * (value(with) - value(without));
    }
    double sum = 0;
    for (const WordShare& word : made.words) sum += word.share;
    made.gap = std::abs(sum - (made.logit - made.baseline));
    return made;
  }

 private:
  /// Neighbouring words of one text that come and go together.
  struct Unit {
    std::size_t first = 0;  ///< the half-open range of words
    std::size_t last = 0;
  };

  /// A word comes to others.
  struct Step {
    std::size_t unit = 0;
    std::size_t with = 0;  ///< the text with it
    std::size_t without = 0;
    double weight = 0;
  };

  void add_words(bool second, std::string_view text) {
    for (const Word& word : words_of(text)) {
      words_.push_back(word);
      of_second_.push_back(second);
    }
    if (!second) first_words_ = words_.size();
    read_.assign(words_.size(), true);
  }

  /// Returns the text with the words that are kept.
  [[nodiscard]] PartialText with(const std::vector<bool>& kept) const {
    const auto middle = kept.begin() + static_cast<std::ptrdiff_t>(first_words_);
    const std::span words{words_};
    PartialText part;
    part.text = with_words(whole_.text, words.first(first_words_), {kept.begin(), middle});
    if (whole_.pair) {
      part.pair = with_words(*whole_.pair, words.subspan(first_words_), {middle, kept.end()});
    }
    return part;
  }

  /// Finds the words of a text that is too long which do not change its ids.
  void leave_out_unread(const Encode& encode) {
    const auto ids = encode(whole_.text, whole_.pair, true).input_ids;
    if (encode(whole_.text, whole_.pair, false).input_ids == ids) return;
    const auto is_unread = [&](std::size_t begin, std::size_t end) {
      auto kept = read_;
      clear(kept, begin, end);
      const PartialText part = with(kept);
      try {
        return encode(part.text, part.pair, true).input_ids == ids;
      } catch (const InputError&) {
        return false;
      }
    };
    leave_out_unread(0, first_words_, is_unread);
    leave_out_unread(first_words_, words_.size(), is_unread);
  }

  /// Finds those of a range of words. A cut text lacks its last words, its first ones, or some in
  /// the middle.
  template <class IsUnread>
  void leave_out_unread(std::size_t begin, std::size_t end, const IsUnread& is_unread) {
    constexpr std::size_t probes = 16;
    for (std::size_t probe = 0; probe <= probes && begin < end; ++probe) {
      const std::size_t at = end - 1 - probe * (end - 1 - begin) / probes;
      if (!read_[at] || !is_unread(at, at + 1)) continue;
      const auto from = first_true(begin, at, [&](auto first) { return is_unread(first, at + 1); });
      clear(read_, from, at + 1);
      const auto after =
          first_true(0, end - at - 1, [&](auto rest) { return is_unread(at, end - rest); });
      clear(read_, at, end - after);
    }
  }

  static void clear(std::vector<bool>& bits, std::size_t begin, std::size_t end) {
    std::fill(bits.begin() + static_cast<std::ptrdiff_t>(begin),
              bits.begin() + static_cast<std::ptrdiff_t>(end), false);
  }

  /// Returns the first number in [begin, end] from which on a condition is true; `end` needs no
  /// test.
  template <class Condition>
  static std::size_t first_true(std::size_t begin, std::size_t end, const Condition& is_true) {
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      is_true(middle) ? end = middle : begin = middle + 1;
    }
    return end;
  }

  /// Makes at most `most` units of the words that are read, or as few as there can be.
  void group(std::size_t most) {
    const auto fits = [&](std::size_t size) { return units_of(size).size() <= most; };
    units_ = units_of(first_true(1, std::max<std::size_t>(words_.size(), 1), fits));
  }

  /// Returns units of at most `size` words each.
  [[nodiscard]] std::vector<Unit> units_of(std::size_t size) const {
    std::vector<Unit> units;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (!read_[i]) continue;
      const bool goes_on = !units.empty() && units.back().last == i &&
                           i - units.back().first < size && of_second_[i] == of_second_[i - 1];
      if (!goes_on) units.push_back({i, i});
      ++units.back().last;
    }
    return units;
  }

  /// Returns the number of the text that has these units, which is a new text unless it was added
  /// before.
  std::size_t add(const std::vector<bool>& units) {
    const auto [found, is_new] = numbers_.try_emplace(units, texts_.size());
    if (!is_new) return found->second;
    std::vector<bool> kept(words_.size(), false);
    for (std::size_t i = 0; i < units.size(); ++i) {
      for (std::size_t word = units_[i].first; units[i] && word < units_[i].last; ++word) {
        kept[word] = true;
      }
    }
    texts_.push_back(with(kept));
    return found->second;
  }

  /// Plans the texts with each set of units.
  void plan_all_sets() {
    const std::size_t count = units_.size();
    std::vector<std::size_t> numbers;
    for (std::size_t set = 0; set >> count == 0; ++set) {
      std::vector<bool> units(count);
      for (std::size_t i = 0; i < count; ++i) units[i] = (set >> i & 1) != 0;
      numbers.push_back(add(units));
    }
    // Of the orders of all units, so many have a set before one unit: |set|! (count - |set| - 1)!
    std::vector<double> weights(count, 1 / static_cast<double>(std::max<std::size_t>(count, 1)));
    for (std::size_t size = 1; size < count; ++size) {
      weights[size] =
          weights[size - 1] * static_cast<double>(size) / static_cast<double>(count - size);
    }
    for (std::size_t set = 0; set < numbers.size(); ++set) {
      const auto size = static_cast<std::size_t>(std::popcount(set));
      for (std::size_t i = 0; i < count; ++i) {
        if ((set >> i & 1) != 0) continue;
        steps_.push_back({i, numbers[set | std::size_t{1} << i], numbers[set], weights[size]});
      }
    }
  }

  /// Plans the texts of orders and their reverses: first the text's own order, then random ones.
  void plan_orders(std::size_t passes) {
    const std::size_t count = units_.size();
    const std::size_t pairs = std::max<std::size_t>(1, (passes - 2) / (2 * (count - 1)));
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    random::Stream stream{0, random::Purpose::order};
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (pair > 0) random::shuffle(order, stream);
      add_order(order, 0.5 / static_cast<double>(pairs));
      std::ranges::reverse(order);
      add_order(order, 0.5 / static_cast<double>(pairs));
    }
  }

  void add_order(const std::vector<std::size_t>& order, double weight) {
    std::vector<bool> units(units_.size(), false);
    std::size_t before = none_;
    for (const std::size_t unit : order) {
      units[unit] = true;
      const std::size_t now = add(units);
      steps_.push_back({unit, now, before, weight});
      before = now;
    }
  }

  /// Gives texts that have no ids a blank or a point, if the tokenizer adds no special tokens.
  void replace_empty(const Encode& encode) {
    const auto has_ids = [&](const PartialText& part) {
      try {
        (void)encode(part.text, part.pair, true);
        return true;
      } catch (const InputError&) {
        return false;
      }
    };
    if (has_ids(texts_[none_])) return;
    PartialText empty = texts_[none_];
    for (const char* text : {" ", "."}) {
      empty.text = text;
      if (has_ids(empty)) break;
    }
    for (PartialText& part : texts_) {
      if (!has_ids(part)) part = empty;
    }
  }

  [[nodiscard]] std::vector<WordShare> units_shown() const {
    std::vector<WordShare> shown;
    for (const Unit& unit : units_) {
      shown.push_back({.of_second = of_second_[unit.first],
                       .begin = words_[unit.first].begin,
                       .end = words_[unit.last - 1].end});
    }
    return shown;
  }

  PartialText whole_;
  std::vector<Word> words_;      ///< of both texts
  std::vector<bool> of_second_;  ///< [words]
  std::size_t first_words_ = 0;  ///< words of the first text
  std::vector<bool> read_;       ///< [words], false for words that are cut off
  std::vector<Unit> units_;
  std::vector<PartialText> texts_;
  std::map<std::vector<bool>, std::size_t> numbers_;  ///< of the texts, by their units
  std::vector<Step> steps_;
  std::size_t none_ = 0;  ///< number of the text without words
  bool exact_ = false;
};

}  // namespace seqtrain::predict
