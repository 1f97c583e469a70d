#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/k_center.hpp>
#include <seqtrain/predict/predictor.hpp>

namespace seqtrain::predict {

/// Records in memory that are read in a chosen order. It models `Records`.
class KeptRecords {
 public:
  explicit KeptRecords(std::string name = {}) : name_{std::move(name)} {}

  /// Adds a record, which is copied.
  void add(const data::Example& example, std::int64_t line) {
    Record& record = records_.emplace_back(
        Record{.text = std::string{example.text}, .pair = std::nullopt, .line = line});
    if (example.text_pair) record.pair = std::string{*example.text_pair};
    record.kept = copied(example.kept);
  }
  /// Adds a record that could not be read.
  void add_error(const InputError& error, std::span<const data::KeptValue> kept) {
    errors_.push_back({error, copied(kept)});
  }
  /// Says that the record with this index has an error in place of an answer.
  void refuse(std::size_t i, const InputError& error) {
    errors_.push_back({error, std::move(records_[i].kept)});
    ++refused_;
  }

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  /// Returns the line of the input in which a record lies.
  [[nodiscard]] std::int64_t line(std::size_t i) const { return records_[i].line; }
  /// Sets the records that `read` shows, and their order.
  void choose(std::vector<std::size_t> chosen) { chosen_ = std::move(chosen); }

  /// Shows all chosen records, then those that are wrong. Returns false.
  template <class Visit, class Wrong>
  bool read(const Visit& visit, const Wrong& wrong) const {
    for (const std::size_t i : chosen_) {
      const Record& record = records_[i];
      const auto kept = views(record.kept);
      data::Example example{.text = record.text, .row = record.line, .kept = kept};
      if (record.pair) example.text_pair = *record.pair;
      visit(example);
    }
    for (const auto& [error, values] : errors_) {
      const auto kept = views(values);
      wrong(error, std::span<const data::KeptValue>{kept});
    }
    return false;
  }

  [[nodiscard]] static bool ready() { return true; }
  /// Returns the line of a record that is shown.
  [[nodiscard]] static std::int64_t line_of(const data::Example& example) { return example.row; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] static std::int64_t bytes() { return 0; }
  /// Returns the number of all records, chosen or not.
  [[nodiscard]] std::int64_t records() const {
    return static_cast<std::int64_t>(records_.size() + errors_.size() - refused_);
  }

 private:
  struct Value {
    std::string text = {};
    bool is_json = false;
    bool is_cell = false;
  };
  struct Record {
    std::string text = {};
    std::optional<std::string> pair = {};
    std::int64_t line = 0;
    std::vector<Value> kept = {};
  };

  static std::vector<Value> copied(std::span<const data::KeptValue> kept) {
    std::vector<Value> values;
    for (const auto& [text, is_json, is_cell] : kept) {
      values.push_back({std::string{text}, is_json, is_cell});
    }
    return values;
  }
  static std::vector<data::KeptValue> views(const std::vector<Value>& values) {
    std::vector<data::KeptValue> kept;
    for (const auto& [text, is_json, is_cell] : values) kept.push_back({text, is_json, is_cell});
    return kept;
  }

  std::string name_;
  std::deque<Record> records_;
  std::vector<std::pair<InputError, std::vector<Value>>> errors_;
  std::size_t refused_ = 0;
  std::vector<std::size_t> chosen_;
};

/// Texts of a stream that are as different as possible, and how well they cover it.
struct DiverseRecords {
  KeptRecords records = KeptRecords{};
  std::size_t texts = 0;  ///< of the stream
  std::size_t chosen = 0;
  double radius = 0;  ///< see `Centers`; of embeddings with the length 1
};

/// Options of `most_diverse`.
struct DiverseOptions {
  std::size_t count = 1;
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  std::size_t batch_size = 32;
  std::size_t threads = 1;
  bool strict = false;  ///< true if the first wrong record is thrown
  std::function<void(const StreamProgress&)> progress = {};
  CentersProgress choosing = {};
};

namespace detail {

/// Keeps the records of a stream with their embeddings, which get the length 1.
template <Predictor P>
class EmbeddedRecords {
 public:
  EmbeddedRecords(const P& embedder, const DiverseOptions& options, std::string name)
      : embedder_{&embedder}, options_{&options}, records_{std::move(name)} {}

  void add(const data::Example& example, const Where& where) {
    try {
      texts_.push_back(embedder_->encode(example.text, example.text_pair, options_->max_length));
    } catch (const InputError& error) {
      return add_error(InputError{error.what(), where}, example.kept);
    }
    records_.add(example, where.line);
    if (texts_.size() == batches * std::min(options_->batch_size, most_of_batch)) embed();
  }

  void add_error(const InputError& error, std::span<const data::KeptValue> kept = {}) {
    if (options_->strict) throw error;
    records_.add_error(error, kept);
  }

  /// Returns the records, of which the most different are chosen.
  [[nodiscard]] DiverseRecords finish() {
    embed();
    const auto centers = k_center(vectors_, options_->count, options_->threads, options_->choosing);
    std::vector<std::size_t> chosen;
    for (const std::size_t row : centers.rows) chosen.push_back(rows_[row]);
    DiverseRecords result{.texts = rows_.size(), .chosen = chosen.size(), .radius = centers.radius};
    records_.choose(std::move(chosen));
    result.records = std::move(records_);
    return result;
  }

 private:
  static constexpr std::size_t batches = 16;  ///< in a window, whose texts are sorted by length
  /// The most texts that a window has for each batch, so that memory does not grow.
  static constexpr std::size_t most_of_batch = 1024;

  void embed() {
    const std::size_t first = records_.size() - texts_.size();
    metrics::Logits embeddings =
        logits_by_length(*embedder_, std::exchange(texts_, {}), options_->batch_size);
    const auto width = static_cast<std::size_t>(embeddings.cols());
    for (Eigen::Index row = 0; row < embeddings.rows(); ++row) {
      keep(first + static_cast<std::size_t>(row), {embeddings.row(row).data(), width});
    }
  }

  void keep(std::size_t record, std::span<float> embedding) {
    if (!metrics::all_finite(embedding)) {
      const InputError error{"the model computes an embedding that is not finite",
                             {.object = records_.name(), .line = records_.line(record)},
                             "compute in fp32; if that is so already, the weights are damaged"};
      if (options_->strict) throw error;
      return records_.refuse(record, error);
    }
    constexpr std::uint64_t least = std::uint64_t{64} << 20;
    if (vectors_.rows() % VectorTable::block_rows == 0 &&
        available_memory().value_or(least) < least) {
      throw Error{"memory ends after " + std::to_string(rows_.size()) + " texts",
                  {.object = records_.name()},
                  "all texts and their embeddings are in memory: choose from fewer texts"};
    }
    normalize(embedding);
    vectors_.add(embedding);
    rows_.push_back(record);
  }

  const P* embedder_;
  const DiverseOptions* options_;
  KeptRecords records_;
  std::vector<Encoded> texts_;  ///< of the last records
  VectorTable vectors_;
  std::vector<std::size_t> rows_;  ///< the record of each vector
};

}  // namespace detail

/// Reads all records of a stream and chooses those whose texts are as different as possible, by the
/// embeddings that `embedder` gives: see `k_center`. Memory holds all records and 4 bytes for each
/// number of their embeddings. Throws `Error` when it ends.
template <Records R, Predictor P>
[[nodiscard]] DiverseRecords most_diverse(R& records, const P& embedder,
                                          const DiverseOptions& options) {
  detail::EmbeddedRecords<P> embedded{embedder, options, records.name()};
  std::int64_t wrong = 0;
  const auto refuse = [&](const InputError& error, std::span<const data::KeptValue> kept = {}) {
    ++wrong;
    embedded.add_error(error, kept);
  };
  const auto visit = [&](const data::Example& example) {
    embedded.add(example, {.object = records.name(), .line = records.line_of(example)});
  };
  for (bool more = true; more;) {
    more = records.read(visit, refuse);
    if (options.progress) {
      options.progress({.bytes = records.bytes(), .records = records.records(), .wrong = wrong});
    }
  }
  return embedded.finish();
}

}  // namespace seqtrain::predict
