#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// The sizes of the windows in which a stream is read.
struct WindowOptions {
  std::size_t batch_size = 32;
  /// The greatest number of batches in a window. The first window has one batch, and each full
  /// window is followed by one with twice as many, so the first answers come soon.
  std::size_t most_batches = 16;
  std::size_t top_k = 0;  ///< see `to_json`
};

/// Returns the line for a record that has no answer: `{"error": "stdin:4: …", "line": 4}`.
[[nodiscard]] inline std::string error_line(const InputError& error) {
  json::Writer out;
  out.begin_object().member("error", std::string_view{error.what()});
  return out.member("line", error.where().line).end_object().text();
}

/// A text for which the model has computed no answer.
struct Unanswered {
  std::size_t begin = 0;  ///< the place of its line in the result of `Window::answer`
  InputError error;
};

/// Texts that wait for their answers. They are predicted together, in batches of texts of similar
/// length, and answered in the order in which they came.
template <Predictor P>
class Window {
 public:
  /// `predictor` must outlive this object.
  explicit Window(const P& predictor, const WindowOptions& options = {})
      : predictor_{&predictor}, options_{options} {}

  /// Adds a text. `where` is its place in an error.
  void add(Encoded text, Where where = {}) {
    places_.push_back(lines_.size());
    texts_.push_back(std::move(text));
    wheres_.push_back(std::move(where));
    lines_.emplace_back();
  }

  /// Adds a line that needs no prediction.
  void add_line(std::string line) { lines_.push_back(std::move(line)); }

  /// Tells whether the window is full, so that `answer` is due.
  [[nodiscard]] bool full() const { return lines_.size() >= batches_ * options_.batch_size; }
  [[nodiscard]] bool empty() const { return lines_.empty(); }

  /// Returns the answers, one line each, in the order of the texts, and empties the window. A text
  /// for which the model computes a logit that is not finite gets the line of an error.
  [[nodiscard]] std::string answer() {
    if (full()) batches_ = std::min(2 * batches_, options_.most_batches);
    const auto order = order_by_length();
    std::map<std::size_t, InputError> errors;  // by the index of the line
    for (std::size_t begin = 0; begin < order.size(); begin += options_.batch_size) {
      const std::size_t count = std::min(options_.batch_size, order.size() - begin);
      answer_batch(std::span{order}.subspan(begin, count), errors);
    }
    std::string text;
    unanswered_.clear();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (const auto error = errors.find(i); error != errors.end()) {
        unanswered_.push_back({text.size(), error->second});
      }
      text.append(lines_[i]).append("\n");
    }
    texts_.clear();
    wheres_.clear();
    places_.clear();
    lines_.clear();
    return text;
  }

  /// Returns the texts to which the last `answer` gave the line of an error, in their order.
  [[nodiscard]] std::span<const Unanswered> unanswered() const { return unanswered_; }

 private:
  [[nodiscard]] std::vector<std::size_t> order_by_length() const {
    std::vector<std::size_t> order(texts_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return texts_[i].input_ids.size(); });
    return order;
  }

  /// Predicts the texts with these indices.
  void answer_batch(std::span<const std::size_t> batch, std::map<std::size_t, InputError>& errors) {
    const Task& task = predictor_->task();
    std::vector<Encoded> texts;
    for (const std::size_t i : batch) texts.push_back(std::move(texts_[i]));
    std::vector<text::DecidingWindow> deciding;
    const metrics::Logits logits = logits_of(*predictor_, texts, &deciding);
    deciding.resize(batch.size());
    const auto width = static_cast<std::size_t>(logits.cols());
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const std::span<const float> mine{logits.data() + row * width, width};
      const std::size_t place = places_[batch[row]];
      if (metrics::all_finite(mine)) {
        lines_[place] = to_json(interpret(mine, task, deciding[row]), task, options_.top_k);
        continue;
      }
      const auto error = not_finite(std::move(wheres_[batch[row]]));
      lines_[place] = error_line(error);
      errors.emplace(place, error);
    }
  }

  static InputError not_finite(Where where) {
    return InputError{"the model computes a logit that is not a finite number", std::move(where),
                      "compute in fp32; if that is so already, the weights are damaged"};
  }

  const P* predictor_;
  WindowOptions options_;
  std::size_t batches_ = 1;
  std::vector<Encoded> texts_;
  std::vector<Where> wheres_;        ///< [texts]
  std::vector<std::size_t> places_;  ///< [texts], the index of each text's line
  std::vector<std::string> lines_;
  std::vector<Unanswered> unanswered_;
};

/// The progress of a stream of answers.
struct StreamProgress {
  std::int64_t bytes = 0;    ///< bytes of the input that were read
  std::int64_t records = 0;  ///< records, including wrong ones
  std::int64_t wrong = 0;    ///< records that have an error in place of an answer
};

/// Options of a stream of answers.
struct StreamOptions {
  /// The most ids that a text may have.
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  bool strict = false;  ///< true if the first record without an answer ends the stream
  WindowOptions window = {};
  std::function<void(const StreamProgress&)> progress = {};  ///< called after each window
};

/// Answers the records of a stream with one line each, in their order. `write(text)` takes whole
/// lines and returns false if nobody reads them any more. Answers are written when a window is full
/// and when the input pauses, so memory does not grow and no answer waits for more input. If the
/// options are strict, throws `InputError` at the first record that is wrong or for which the model
/// has no answer, after it has written the answers to earlier records.
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
    std::string lines = window.answer();
    const auto unanswered = window.unanswered();
    wrong += std::ssize(unanswered);
    const bool ends = options.strict && !unanswered.empty();
    if (ends) lines.resize(unanswered.front().begin);
    wanted = write(lines);
    if (options.progress) options.progress(progress());
    if (ends) throw unanswered.front().error;
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
    const Where where{.object = records.name(), .line = records.line_of(example)};
    try {
      window.add(predictor.encode(example.text, example.text_pair, options.max_length), where);
    } catch (const InputError& error) {
      return refuse(InputError{error.what(), where});
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
