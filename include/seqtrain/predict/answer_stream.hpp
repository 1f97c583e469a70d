#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/windows.hpp>

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
    const auto texts = std::span<const Encoded>{texts_}.subspan(begin, count);
    std::vector<text::DecidingWindow> deciding;
    const metrics::Logits logits = logits_of(*predictor_, texts, &deciding);
    deciding.resize(count);
    const auto width = static_cast<std::size_t>(logits.cols());
    for (std::size_t row = 0; row < count; ++row) {
      const std::span<const float> mine{logits.data() + row * width, width};
      lines_[places_[begin + row]] =
          to_json(interpret(mine, task, deciding[row]), task, options_.top_k);
    }
  }

  const P* predictor_;
  WindowOptions options_;
  std::size_t batches_ = 1;
  std::vector<Encoded> texts_;
  std::vector<std::size_t> places_;  ///< [texts], the index of each text's line
  std::vector<std::string> lines_;
};

/// The progress of a stream of answers.
struct StreamProgress {
  std::int64_t bytes = 0;    ///< bytes of the input that were read
  std::int64_t records = 0;  ///< records, including wrong ones
  std::int64_t wrong = 0;
};

struct StreamOptions {
  /// The most ids that a text may have.
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  bool strict = false;  ///< true if the first wrong record ends the stream
  WindowOptions window = {};
  std::function<void(const StreamProgress&)> progress = {};  ///< called after each window
};

/// Returns the line for a wrong record: `{"error": "stdin:4: …", "line": 4}`.
[[nodiscard]] inline std::string error_line(const InputError& error) {
  json::Writer out;
  out.begin_object().member("error", std::string_view{error.what()});
  return out.member("line", error.where().line).end_object().text();
}

/// Answers the records of a stream with one line each, in their order. `write(text)` takes whole
/// lines and returns false if nobody reads them any more. Answers are written when a window is full
/// and when the input pauses, so memory does not grow and no answer waits for more input. If the
/// options are strict, throws `InputError` at the first wrong record, after it has written the
/// answers to earlier records.
template <class Input, Predictor P, class Write>
StreamProgress answer_stream(data::RecordStream<Input>& records, const P& predictor,
                             const Write& write, const StreamOptions& options = {}) {
  Window<P> window{predictor, options.window};
  std::int64_t wrong = 0;
  bool wanted = true;
  const auto progress = [&] {
    return StreamProgress{.bytes = records.bytes(), .records = records.records(), .wrong = wrong};
  };
  const auto answer = [&] {
    if (window.empty() || !wanted) return;
    wanted = write(window.answer());
    if (options.progress) options.progress(progress());
  };
  const auto refuse = [&](const InputError& error) {
    if (options.strict) {
      answer();
      throw error;
    }
    ++wrong;
    window.add_line(error_line(error));
    if (window.full()) answer();
  };
  const auto visit = [&](const data::Example& example) {
    if (!wanted) return;
    try {
      window.add(predictor.encode(example.text, example.text_pair, options.max_length));
    } catch (const InputError& error) {
      return refuse(
          InputError{error.what(), {.object = records.name(), .line = records.line_of(example)}});
    }
    if (window.full()) answer();
  };
  for (bool more = true; more && wanted;) {
    more = records.read(visit, refuse);
    if (!more || !records.ready()) answer();
  }
  return progress();
}

}  // namespace seqtrain::predict
