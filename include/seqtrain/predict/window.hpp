#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/predict/encoded.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>

namespace seqtrain::predict {

struct WindowOptions {
  std::size_t batch_size = 32;
  /// The greatest number of batches in a window. The first window has one batch, and each full
  /// window is followed by one with twice as many, so the first answers come soon.
  std::size_t most_batches = 16;
  std::size_t top_k = 0;  ///< see `to_json`
};

/// Texts that wait for their answers. They are predicted together, in batches of texts of similar
/// length, and answered in the order in which they came.
template <Predictor P>
class Window {
 public:
  /// `predictor` must outlive this object.
  explicit Window(const P& predictor, const WindowOptions& options = {})
      : predictor_{&predictor}, options_{options} {}

  /// Adds a text.
  void add(Encoded text) {
    places_.push_back(lines_.size());
    texts_.push_back(std::move(text));
    lines_.emplace_back();
  }

  /// Adds a line that needs no prediction.
  void add_line(std::string line) { lines_.push_back(std::move(line)); }

  /// Tells whether the window is full, so that `answer` is due.
  [[nodiscard]] bool full() const { return lines_.size() >= batches_ * options_.batch_size; }
  [[nodiscard]] bool empty() const { return lines_.empty(); }

  /// Returns the answers, one line each, in the order of the texts, and empties the window.
  [[nodiscard]] std::string answer() {
    if (full()) batches_ = std::min(2 * batches_, options_.most_batches);
    sort_by_length();
    for (std::size_t begin = 0; begin < texts_.size(); begin += options_.batch_size) {
      answer_batch(begin, std::min(options_.batch_size, texts_.size() - begin));
    }
    std::string text;
    for (const std::string& line : lines_) text.append(line).append("\n");
    texts_.clear();
    places_.clear();
    lines_.clear();
    return text;
  }

 private:
  void sort_by_length() {
    std::vector<std::size_t> order(texts_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return texts_[i].input_ids.size(); });
    std::vector<Encoded> texts;
    std::vector<std::size_t> places;
    for (const std::size_t i : order) {
      texts.push_back(std::move(texts_[i]));
      places.push_back(places_[i]);
    }
    texts_ = std::move(texts);
    places_ = std::move(places);
  }

  void answer_batch(std::size_t begin, std::size_t count) {
    const Task& task = predictor_->task();
    const metrics::Logits logits = predictor_->predict(std::span{texts_}.subspan(begin, count));
    const auto width = static_cast<std::size_t>(logits.cols());
    for (std::size_t row = 0; row < count; ++row) {
      const std::span<const float> mine{logits.data() + row * width, width};
      lines_[places_[begin + row]] = to_json(interpret(mine, task), task, options_.top_k);
    }
  }

  const P* predictor_;
  WindowOptions options_;
  std::size_t batches_ = 1;
  std::vector<Encoded> texts_;
  std::vector<std::size_t> places_;  ///< [texts], the index of each text's line
  std::vector<std::string> lines_;
};

}  // namespace seqtrain::predict
