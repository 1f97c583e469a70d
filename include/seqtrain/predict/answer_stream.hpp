#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/answer_writer.hpp>
#include <seqtrain/predict/explain.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/uncertainty.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// The sizes of the windows in which a stream is read, and the form of the answers.
struct AnswerQueueOptions {
  std::size_t batch_size = 32;
  /// The greatest number of batches in a window. The first window has one batch, and each full
  /// window is followed by one with twice as many, so the first answers come soon.
  std::size_t most_batches = 16;
  AnswerOptions answer = {};
  /// With them each answer has the shares of the text's words, in JSON lines.
  std::optional<ExplainOptions> explain = {};
  /// The most ids that a text with some of the words may have.
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
};

/// The line of a record.
struct Answer {
  std::string line = {};
  double uncertainty = 0;                ///< see `AnswerOptions::uncertainty`
  bool abstained = false;                ///< the text gets no label
  std::optional<InputError> error = {};  ///< the line is that of an error
};

/// Texts that wait for their answers. They are predicted together, in batches of texts of similar
/// length, and answered in the order in which they came.
template <Predictor P>
class AnswerQueue {
 public:
  /// `predictor` must outlive this object.
  explicit AnswerQueue(const P& predictor, const AnswerQueueOptions& options = {})
      : predictor_{&predictor}, options_{options}, writer_{predictor.task(), options.answer} {}

  /// Adds a text. `where` is its place in an error. `kept` are the values of the input that its
  /// answer has. `original` is the text itself, which only an explanation needs.
  void add(Encoded text, Where where = {}, std::span<const data::KeptValue> kept = {},
           PartialText original = {}) {
    places_.push_back(answers_.size());
    texts_.push_back(std::move(text));
    wheres_.push_back(std::move(where));
    originals_.push_back(std::move(original));
    answers_.push_back({.line = writer_.begin(kept)});
  }

  /// Adds a record that has an error in place of an answer.
  void add_error(const InputError& error, std::span<const data::KeptValue> kept = {}) {
    answers_.push_back({.line = writer_.error(writer_.begin(kept), error), .error = error});
  }

  /// Tells whether the window is full, so that `answer` is due.
  [[nodiscard]] bool full() const { return answers_.size() >= batches_ * options_.batch_size; }
  [[nodiscard]] bool empty() const { return answers_.empty(); }
  [[nodiscard]] const AnswerWriter& writer() const { return writer_; }

  /// Returns the answers in the order of the records, and empties the window. A text for which the
  /// model computes a logit that is not finite gets the line of an error.
  [[nodiscard]] std::vector<Answer> answers() {
    if (full()) batches_ = std::min(2 * batches_, options_.most_batches);
    const auto order = order_by_length();
    for (std::size_t begin = 0; begin < order.size(); begin += options_.batch_size) {
      const std::size_t count = std::min(options_.batch_size, order.size() - begin);
      answer_batch(std::span{order}.subspan(begin, count));
    }
    texts_.clear();
    wheres_.clear();
    originals_.clear();
    places_.clear();
    return std::exchange(answers_, {});
  }

  /// Returns the lines of `answers`, each with its line end.
  [[nodiscard]] std::string answer() {
    std::string text;
    for (const Answer& answer : answers()) text.append(answer.line).append(writer_.line_end());
    return text;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> order_by_length() const {
    std::vector<std::size_t> order(texts_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return texts_[i].input_ids.size(); });
    return order;
  }

  /// Predicts the texts with these indices.
  void answer_batch(std::span<const std::size_t> batch) {
    std::vector<Encoded> texts;
    for (const std::size_t i : batch) texts.push_back(std::move(texts_[i]));
    std::vector<text::DecidingWindow> deciding;
    const metrics::Logits logits = logits_of(*predictor_, texts, &deciding);
    deciding.resize(batch.size());
    const auto width = static_cast<std::size_t>(logits.cols());
    for (std::size_t row = 0; row < batch.size(); ++row) {
      set_answer(batch[row], {logits.data() + row * width, width}, deciding[row]);
    }
  }

  /// Completes the line of a text, which has its beginning.
  void set_answer(std::size_t text, std::span<const float> logits,
                  const text::DecidingWindow& deciding) {
    Answer& answer = answers_[places_[text]];
    const auto refuse = [&](InputError error) {
      answer.line = writer_.error(answer.line, error);
      answer.error = std::move(error);
    };
    if (!metrics::all_finite(logits)) return refuse(not_finite(std::move(wheres_[text])));
    const Task& task = predictor_->task();
    const Prediction prediction = interpret(logits, task, deciding);
    std::string explanations;
    try {
      explanations = explained(originals_[text], prediction);
    } catch (const InputError& error) {
      return refuse(InputError{error.what(), std::move(wheres_[text])});
    }
    answer.line = writer_.answer(answer.line, prediction, wheres_[text].line, explanations);
    answer.abstained = abstains(prediction, task, options_.answer.min_score);
    if (options_.answer.uncertainty) answer.uncertainty = writer_.uncertainty_of(prediction);
  }

  /// Returns what `write_explanations` writes, or "" if answers have no explanations.
  [[nodiscard]] std::string explained(const PartialText& text, const Prediction& prediction) const {
    if (!options_.explain) return {};
    json::Writer out;
    write_explanations(out,
                       explain(*predictor_, text.text, text.pair, prediction, options_.max_length,
                               *options_.explain, options_.batch_size),
                       text.text, text.pair, predictor_->task());
    return out.text();
  }

  static InputError not_finite(Where where) {
    return InputError{"the model computes a logit that is not a finite number", std::move(where),
                      "compute in fp32; if that is so already, the weights are damaged"};
  }

  const P* predictor_;
  AnswerQueueOptions options_;
  AnswerWriter writer_;
  std::size_t batches_ = 1;
  std::vector<Encoded> texts_;
  std::vector<Where> wheres_;           ///< [texts]
  std::vector<PartialText> originals_;  ///< [texts], empty unless answers have explanations
  std::vector<std::size_t> places_;     ///< [texts], the index of each text's answer
  std::vector<Answer> answers_;
};

/// The progress of a stream of answers.
struct StreamProgress {
  std::int64_t bytes = 0;      ///< bytes of the input that were read
  std::int64_t records = 0;    ///< records, including wrong ones
  std::int64_t wrong = 0;      ///< records that have an error in place of an answer
  std::int64_t answered = 0;   ///< records that the model has answered
  std::int64_t abstained = 0;  ///< of these, records that get no label
};

/// Options of a stream of answers.
struct StreamOptions {
  /// The most ids that a text may have.
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  bool strict = false;  ///< true if the first record without an answer ends the stream
  /// If above 0, only this many answers are written, at the end: the most uncertain ones by
  /// `AnswerOptions::uncertainty`, then the errors.
  std::size_t most_uncertain = 0;
  AnswerQueueOptions window = {};
  std::function<void(const StreamProgress&)> progress = {};  ///< called after each window
};

/// Records that are read one after the other, as from a `data::RecordStream`.
template <class R>
concept Records = requires(R& records, const data::Example& example) {
  { records.name() } -> std::convertible_to<std::string>;
  { records.line_of(example) } -> std::convertible_to<std::int64_t>;
  { records.ready() } -> std::convertible_to<bool>;
  { records.bytes() } -> std::convertible_to<std::int64_t>;
  { records.records() } -> std::convertible_to<std::int64_t>;
};

namespace detail {

/// Returns a copy of the texts of an example.
inline PartialText copied(const data::Example& example) {
  PartialText texts{.text = std::string{example.text}};
  if (example.text_pair) texts.pair = *example.text_pair;
  return texts;
}

/// Writes the answers of windows, or keeps the most uncertain ones until the end.
template <class Write>
class Answers {
 public:
  Answers(const Write& write, const StreamOptions& options, const AnswerWriter& writer)
      : write_{&write},
        options_{&options},
        line_end_{writer.line_end()},
        most_uncertain_{options.most_uncertain} {
    const std::string header = writer.header();
    if (!header.empty()) wanted_ = write(header);
  }

  /// Tells whether somebody reads the answers.
  [[nodiscard]] bool wanted() const { return wanted_; }
  [[nodiscard]] std::int64_t wrong() const { return wrong_; }
  [[nodiscard]] std::int64_t answered() const { return answered_; }
  [[nodiscard]] std::int64_t abstained() const { return abstained_; }

  /// Takes the answers of a window. Returns the error that ends the stream, if one does.
  std::optional<InputError> take(std::vector<Answer> answers) {
    std::optional<InputError> end;
    std::string lines;
    for (Answer& answer : answers) {
      wrong_ += answer.error ? 1 : 0;
      if (options_->strict && answer.error) {
        end = answer.error;
        break;
      }
      answered_ += answer.error ? 0 : 1;
      abstained_ += answer.abstained ? 1 : 0;
      if (options_->most_uncertain == 0) {
        lines.append(answer.line).append(line_end_);
      } else if (answer.error) {
        errors_.append(answer.line).append(line_end_);
      } else {
        most_uncertain_.add(answer.uncertainty, std::move(answer.line));
      }
    }
    if (!lines.empty()) wanted_ = (*write_)(lines);
    return end;
  }

  /// Writes the answers that were kept.
  void finish() {
    if (options_->most_uncertain == 0 || !wanted_) return;
    std::string lines;
    for (const auto& line : most_uncertain_.take()) lines.append(line).append(line_end_);
    lines += errors_;
    wanted_ = (*write_)(lines);
  }

 private:
  const Write* write_;
  const StreamOptions* options_;
  std::string_view line_end_;
  MostUncertain most_uncertain_;
  std::string errors_;
  std::int64_t wrong_ = 0;
  std::int64_t answered_ = 0;
  std::int64_t abstained_ = 0;
  bool wanted_ = true;
};

}  // namespace detail

/// Answers the records of a stream with one line each, in their order. `write(text)` takes whole
/// lines and returns false if nobody reads them any more. Answers are written when a window is full
/// and when the input pauses, so memory does not grow and no answer waits for more input. If the
/// options are strict, throws `InputError` at the first record that is wrong or for which the model
/// has no answer, after it has written the answers to earlier records.
template <Records R, Predictor P, class Write>
StreamProgress answer_stream(R& records, const P& predictor, const Write& write,
                             const StreamOptions& options = {}) {
  auto window_options = options.window;
  window_options.max_length = options.max_length;
  AnswerQueue<P> window{predictor, window_options};
  std::optional<detail::Answers<Write>>
      answers;  // its header is not written before a record is read
  const auto begun = [&]() -> detail::Answers<Write>& {
    if (!answers) answers.emplace(write, options, window.writer());
    return *answers;
  };
  const auto progress = [&] {
    return StreamProgress{.bytes = records.bytes(),
                          .records = records.records(),
                          .wrong = answers ? answers->wrong() : 0,
                          .answered = answers ? answers->answered() : 0,
                          .abstained = answers ? answers->abstained() : 0};
  };
  const auto answer = [&] {
    if (window.empty() || !begun().wanted()) return;
    const auto end = begun().take(window.answers());
    if (options.progress) options.progress(progress());
    if (end) throw *end;
  };
  const auto refuse = [&](const InputError& error, std::span<const data::KeptValue> kept = {}) {
    window.add_error(error, kept);
    if (window.full() || options.strict) answer();
  };
  const auto visit = [&](const data::Example& example) {
    if (!begun().wanted()) return;
    const Where where{.object = records.name(), .line = records.line_of(example)};
    try {
      PartialText original;
      if (options.window.explain) original = detail::copied(example);
      window.add(predictor.encode(example.text, example.text_pair, options.max_length), where,
                 example.kept, std::move(original));
    } catch (const InputError& error) {
      return refuse(InputError{error.what(), where}, example.kept);
    }
    if (window.full()) answer();
  };
  for (bool more = true; more && (!answers || answers->wanted());) {
    more = records.read(visit, refuse);
    if (!more || !records.ready()) answer();
  }
  begun().finish();
  return progress();
}

}  // namespace seqtrain::predict
