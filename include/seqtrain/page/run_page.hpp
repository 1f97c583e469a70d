#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/near_equal.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/page/baseline.hpp>
#include <seqtrain/page/curves.hpp>
#include <seqtrain/page/data.hpp>
#include <seqtrain/page/decisions.hpp>
#include <seqtrain/page/examples.hpp>
#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/frame.hpp>
#include <seqtrain/page/run_log.hpp>
#include <seqtrain/page/tuning.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::page {

/// The largest size of a page in bytes.
inline constexpr std::size_t most_page_bytes = 2'000'000;

/// The greatest number of examples whose words a page colours, those with the highest loss.
inline constexpr std::size_t most_explained = 8;

namespace detail {

/// Returns the section of a page with the advice, or an empty string if there is none.
inline std::string advice_section(const std::vector<run::Advice>& all) {
  if (all.empty()) return {};
  std::string out = "<section id=\"advice\"><h2>Advice</h2><ul>";
  for (const auto& advice : all) out += html::element("li", advice.text);
  return out + "</ul></section>\n";
}

inline std::string page_body(const PageContent& page, std::size_t text_bytes) {
  const RunFacts& facts = *page.facts;
  std::string out = "<a class=\"skip\" href=\"#main\">To the figures</a><header>";
  out += html::element("h1", facts.name) + "<p class=\"status\">" + html::escaped(page.status) +
         "</p><nav aria-label=\"Sections\"><a href=\"#training\">Training</a>";
  if (page.dev != nullptr) out += "<a href=\"#dev\">Dev</a><a href=\"#examples\">Examples</a>";
  if (page.test != nullptr) out += "<a href=\"#test\">Test</a>";
  out += "<a href=\"#data\">Data</a><a href=\"#run\">Run</a></nav></header><main id=\"main\">\n";
  out += advice_section(page.advice) + curves_section(page);
  if (page.dev != nullptr) {
    const ChosenExamples chosen{*page.dev, facts.task};
    out += decisions_section(
        "dev", *page.dev, facts.task, page.calibrated,
        [&](std::size_t gold, std::size_t said) { return chosen.link(gold, said); });
    out += baseline_section(page);
    out += calibration_section(page.calibrated, facts.task);
    out += examples_section(page, chosen, text_bytes);
  } else if (facts.task.problem_type != ProblemType::loss_alone) {
    out +=
        "<section><h2>Decisions on dev</h2><p>There are no predictions for dev examples yet.</p>"
        "</section>\n";
  }
  if (page.test != nullptr) {
    out += decisions_section("test", *page.test, facts.task, page.calibrated,
                             [](std::size_t, std::size_t) { return std::string{}; });
  }
  return out + trials_section(facts) + data_section(page) + run_section(page) + "</main>";
}

}  // namespace detail

/// Returns a run's page: one HTML file with its pictures, which needs no other file. It has at most
/// `most_page_bytes` bytes unless the run has flags of that size.
[[nodiscard]] inline std::string to_html(const PageContent& page) {
  constexpr std::size_t text_bytes = 800'000;
  std::string out = html::framed(page.facts->name, detail::page_body(page, text_bytes));
  if (out.size() <= most_page_bytes) return out;
  return html::framed(page.facts->name, detail::page_body(page, text_bytes / 20));
}

/// Options of `RunPage`.
struct RunPageOptions {
  std::filesystem::path file = {};  ///< the page
  std::filesystem::path log = {};   ///< the log that `JsonLines` writes
  RunFacts facts = {};
  std::optional<data::Labels> labels = {};  ///< with them texts are read from the dev file
  data::ReadOptions read = {};
  /// Rows of the dev file that are the dev examples, ascending; empty if all are.
  std::vector<std::size_t> dev_rows = {};
  /// Called with the reason if the page cannot be written.
  std::function<void(std::string_view)> warn = {};
};

/// An observer that writes a run's page after each evaluation of dev and when training ends. Pass
/// it after the log and the `KeptPredictions` that it reads, so that they hear an event first. If
/// the page cannot be written, training continues.
class RunPage {
 public:
  RunPage(RunPageOptions options, const run::KeptPredictions& predictions)
      : options_{std::move(options)}, predictions_{&predictions} {}

  void on(const train::EvalEnd& event) {
    if (event.split == "dev") attempt("training, after epoch " + std::to_string(event.epoch));
  }
  void on(const train::FitEnd&) { attempt("trained"); }

  /// Lets the page of the finished run compare its model with simple ones.
  void compare(report::Rows rows, std::string note) {
    baseline_ = std::move(rows);
    baseline_note_ = std::move(note);
  }

  /// Writes the page of a finished run. `calibrated` is null if nothing was calibrated.
  void finish(const run::Calibrated* calibrated, bool test_is_dev, const Explain& explain = {},
              std::vector<run::Advice> advice = {}) {
    calibrated_ = calibrated;
    advice_ = std::move(advice);
    shows_test_ = !test_is_dev;
    explain_ = explain;
    attempt("finished");
  }

 private:
  static constexpr std::size_t most_conflicts = 30;

  void attempt(const std::string& status) {
    try {
      write_file_atomically(options_.file, to_html(content(status)));
    } catch (const std::exception& error) {
      if (options_.warn) {
        options_.warn(std::string{error.what()} + "; the run goes on without its page");
      }
    }
  }

  PageContent content(const std::string& status) {
    PageContent page{.facts = &options_.facts,
                     .log = load_run_log(options_.log),
                     .dev = predictions_->find("dev"),
                     .test = shows_test_ ? predictions_->find("test") : nullptr,
                     .calibrated = calibrated_,
                     .advice = advice_,
                     .baseline = baseline_,
                     .baseline_note = baseline_note_,
                     .status = status};
    if (page.log.steps > 0) {
      page.status += ", step " + html::count(page.log.step) + " of " + html::count(page.log.steps);
    }
    if (page.dev == nullptr || !options_.labels) return page;
    compare_texts();
    add_texts(page);
    return page;
  }

  /// Finds nearly equal texts in the dev file, at the first call only.
  void compare_texts() {
    if (std::exchange(compared_, true)) return;
    std::vector<data::TextKey> keys;
    visit([&](const data::ExamplePlace&, const data::Example& example) {
      keys.push_back(data::text_key(example.text, example.text_pair));
    });
    groups_ = data::near_equal(keys);
  }

  template <class Visit>
  void visit(const Visit& each) const {
    data::visit_examples(options_.facts.dev.file, options_.read, *options_.labels, each,
                         options_.dev_rows);
  }

  /// Tells whether the gold labels of a group's rows differ.
  [[nodiscard]] bool differ(const std::vector<std::size_t>& rows,
                            const run::Predictions& predictions) const {
    std::optional<std::vector<std::size_t>> first;
    for (const std::size_t row : rows) {
      const auto at = std::ranges::lower_bound(predictions.rows, static_cast<std::int64_t>(row));
      if (at == predictions.rows.end() || *at != static_cast<std::int64_t>(row)) return false;
      const auto i = static_cast<std::size_t>(at - predictions.rows.begin());
      if (!predictions.labelled(i)) return false;
      auto labels = predictions.gold_labels(i);
      if (first && labels != *first) return true;
      first = std::move(labels);
    }
    return false;
  }

  /// Reads the texts that the page shows from the dev file.
  void add_texts(PageContent& page) const {
    constexpr std::size_t most_bytes = 8000, most_members = 8;
    std::vector<std::vector<std::size_t>> conflicts;
    for (const auto& rows : groups_) {
      if (!differ(rows, *page.dev)) continue;
      if (conflicts.size() == most_conflicts) {
        ++page.conflicts_left_out;
        continue;
      }
      conflicts.push_back(rows);
      conflicts.back().resize(std::min(rows.size(), most_members));
    }
    std::vector<std::size_t> wanted;
    const ChosenExamples chosen{*page.dev, options_.facts.task};
    for (const std::size_t i : chosen.indices()) {
      wanted.push_back(static_cast<std::size_t>(page.dev->rows[i]));
    }
    auto explained = wanted;
    explained.resize(std::min(explained.size(), most_explained));
    std::ranges::sort(wanted);
    const std::vector<std::size_t> listed = wanted;
    for (const auto& rows : conflicts) wanted.insert(wanted.end(), rows.begin(), rows.end());
    std::ranges::sort(wanted);
    visit([&](const data::ExamplePlace& place, const data::Example& example) {
      if (!std::ranges::binary_search(wanted, place.row)) return;
      ExampleText text{.row = place.row, .record = static_cast<std::int64_t>(place.record)};
      text.text = html::cut(example.text, most_bytes);
      if (example.text_pair) text.pair = html::cut(*example.text_pair, most_bytes);
      if (options_.facts.texts && std::ranges::binary_search(listed, place.row)) {
        if (explain_.passage) text.passage = explain_.passage(example);
        const bool shows_words = std::ranges::count(explained, place.row) > 0;
        if (explain_.words && shows_words) text.words = explain_.words(example);
      }
      page.texts.push_back(std::move(text));
    });
    for (const auto& rows : conflicts) {
      auto& group = page.conflicts.emplace_back();
      for (const std::size_t row : rows) {
        if (const auto* text = detail::text_of(page, static_cast<std::int64_t>(row))) {
          group.push_back(*text);
        }
      }
    }
  }

  RunPageOptions options_;
  const run::KeptPredictions* predictions_;
  const run::Calibrated* calibrated_ = nullptr;
  std::vector<run::Advice> advice_;
  report::Rows baseline_;
  std::string baseline_note_;
  bool shows_test_ = true;
  Explain explain_ = {};
  bool compared_ = false;
  std::vector<std::vector<std::size_t>> groups_;  // groups of nearly equal texts
};

}  // namespace seqtrain::page
