#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::checkpoint {

/// An entry of a lineage: a run that is continued, the step from which, and the number of steps
/// that it had planned.
struct Ancestor {
  std::string run;         ///< its id
  std::int64_t step = 0;   ///< the step that was continued from
  std::int64_t steps = 0;  ///< steps that run had planned

  friend bool operator==(const Ancestor&, const Ancestor&) = default;
};

/// The object `run.json` of a store. It names the run that `--resume auto` continues and the
/// program that holds the store. A program writes it only over the generation that it has read, and
/// again after each checkpoint, so it notices if another program has taken over.
template <Store S>
class RunRecord {
 public:
  static constexpr std::string_view key = "run.json";

  /// Reads the record of a store. Throws `Error` if it cannot be read.
  explicit RunRecord(S& store) : store_{&store} { read(); }

  /// Returns the id of the run that the record names, or an empty string.
  [[nodiscard]] const std::string& run() const { return run_; }

  /// Takes the store over: writes `run` and this program, `holder`. Throws `Error` if another
  /// program has just done so.
  void claim(const std::string& run, const std::string& holder) {
    if (holds(run, holder, {})) return;
    throw Error{"another program has just started here", {.object = store_->name()}};
  }

  /// Records the step of the newest checkpoint. Returns false if another program has taken the
  /// store over. If somebody has removed the record, writes it again and sets `was_removed`.
  [[nodiscard]] bool renew(std::int64_t step) {
    const std::string run = run_, holder = holder_;
    was_removed_ = false;
    return holds(run, holder, step);
  }

  /// Tells whether the last `renew` found that the record had been removed.
  [[nodiscard]] bool was_removed() const { return was_removed_; }

 private:
  void read() {
    const auto stored = store_->get(key);
    generation_ = stored ? stored->generation : 0;
    run_ = holder_ = "";
    if (!stored) return;
    const std::string where = store_->name() + "/" + std::string{key};
    const auto document = json::Document::parse(stored->bytes, where);
    run_ = document.root().at("run").string();
    holder_ = document.root().at("holder").string();
  }

  /// Writes the record, also if it has been removed. Returns false if another program holds the
  /// store. If the answer was lost, it recognises its own write.
  bool holds(const std::string& run, const std::string& holder, std::optional<std::int64_t> step) {
    while (!write(run, holder, step)) {
      read();
      was_removed_ = generation_ == 0;
      if (!was_removed_ && holder_ != holder) return false;
    }
    run_ = run;
    holder_ = holder;
    return true;
  }

  bool write(const std::string& run, const std::string& holder, std::optional<std::int64_t> step) {
    json::Writer out{2};
    out.begin_object().member("format", 1);
    out.member("run", std::string_view{run}).member("holder", std::string_view{holder});
    if (step) out.member("step", *step);
    const std::string text = out.end_object().text() + "\n";
    const auto written = store_->put_if(key, std::as_bytes(std::span{text}), generation_);
    if (written) generation_ = *written;
    return written.has_value();
  }

  S* store_;
  std::int64_t generation_ = 0;
  std::string run_;
  std::string holder_;
  bool was_removed_ = false;
};

}  // namespace seqtrain::checkpoint
