#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/window.hpp>

namespace seqtrain::predict {

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
