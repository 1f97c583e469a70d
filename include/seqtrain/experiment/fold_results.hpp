#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/page/cross_validation.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/run/label_errors.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// The file whose examples were divided, and the directory of the folds.
struct FoldSource {
  std::filesystem::path directory;  ///< with fold-1, fold-2, …
  std::string file;
  std::string shown_file;  ///< the name of the file on the page
  data::ReadOptions read;
  data::Labels labels;
  std::size_t folds = 0;
  std::size_t examples = 0;      ///< those in all folds
  bool texts = true;             ///< whether the results have texts
  std::string advice_on_change;  ///< what to do if the file has changed
};

/// The results of all folds: their figures, and what their predictions say about the file that was
/// divided.
class FoldResults {
 public:
  /// Both arguments must outlive this object.
  FoldResults(FoldSource source, const log::Log& log) : source_{std::move(source)}, log_{log} {}

  /// Returns the names of the files that `write` writes.
  [[nodiscard]] static std::vector<std::string> files() {
    return {"metrics.json",     "report.html",     "out_of_fold.jsonl",
            "label_errors.csv", "equal_texts.csv", "label_errors.label_studio.json"};
  }

  /// Reads `metrics.json` and `predictions.jsonl` of all folds. `results` gets their figures.
  /// Throws `InputError` if an example is in two folds.
  void read(run::Results results) {
    results_ = std::move(results);
    auto& all = results_.cross_validation.emplace();
    for (std::size_t fold = 1; fold <= source_.folds; ++fold) {
      const auto folder = source_.directory / ("fold-" + std::to_string(fold));
      const auto metrics = json::Document::load(folder / "metrics.json");
      run::add_fold(all, metrics.root());
      run::read_fold(predictions_, folder / "predictions.jsonl", static_cast<std::int64_t>(fold));
      if (fold == 1) results_.versions = train::pairs_in(metrics.root(), "versions");
    }
    std::ranges::sort(predictions_, {}, &run::OutOfFold::row);
    check_rows();
    all.left_out = source_.examples - std::min(source_.examples, predictions_.size());
    results_.dev =
        run::report_of(predictions_, source_.labels.names(), source_.labels.problem_type());
    if (has_names()) find_errors();
    find_equal_texts();
    all.label_errors = errors_.size();
    all.equal_texts = equal_texts_.empty() ? 0 : equal_texts_.back().group;
  }

  /// Writes the files, metrics.json last, which tells that the cross-validation is finished.
  void write() const {
    const auto& directory = source_.directory;
    run::write_out_of_fold(directory / "out_of_fold.jsonl", predictions_);
    auto errors = errors_;
    auto equal = equal_texts_;
    if (!source_.texts) {
      for (auto& one : errors) one.text = "", one.pair.reset();
      for (auto& one : equal) one.text = "", one.pair.reset();
    }
    run::write_label_errors(directory / "label_errors.csv", errors);
    run::write_label_studio(directory / "label_errors.label_studio.json", errors);
    run::write_equal_texts(directory / "equal_texts.csv", equal);
    write_file_atomically(directory / "report.html",
                          page::cross_validation_page({.name = directory.filename().string(),
                                                       .file = source_.shown_file,
                                                       .all = *results_.cross_validation,
                                                       .label_errors = errors,
                                                       .equal_texts = equal,
                                                       .examples = source_.examples,
                                                       .texts = source_.texts}));
    run::save(results_, directory / "metrics.json");
  }

  /// Logs the figures and what was found, and `last` at the end.
  void tell(const std::string& last) const {
    const auto& all = *results_.cross_validation;
    log_.warning(run::left_out_warning(all.left_out, source_.examples));
    log_.info("\n" + report::align(page::fold_rows(all, false)));
    if (!errors_.empty()) {
      log_.warning(std::to_string(errors_.size()) + " of " + std::to_string(predictions_.size()) +
                   " labels are probably wrong: see " +
                   (source_.directory / "label_errors.csv").string());
    }
    if (!equal_texts_.empty()) {
      log_.warning(std::to_string(equal_texts_.back().group) +
                   " texts have different labels in different places: see " +
                   (source_.directory / "equal_texts.csv").string());
    }
    log_.info(last);
  }

 private:
  /// Throws `InputError` unless each example has one prediction at most.
  void check_rows() const {
    const auto twice = std::ranges::adjacent_find(predictions_, {}, &run::OutOfFold::row);
    if (twice == predictions_.end()) return;
    throw InputError{"record " + std::to_string(twice->row) + " is in two folds",
                     {.object = source_.directory.string()},
                     "the training file has changed; " + source_.advice_on_change};
  }

  void find_errors() {
    std::unordered_map<std::int64_t, std::size_t> index;  // of errors by record
    for (const auto& found : run::find_label_errors(predictions_, source_.labels.names())) {
      const run::OutOfFold& one = predictions_[found.row];
      index.emplace(one.row, errors_.size());
      errors_.push_back({.row = one.row,
                         .fold = one.fold,
                         .label = source_.labels.name(found.label),
                         .suggested = source_.labels.name(found.suggested),
                         .score = found.score,
                         .suggested_score = one.scores[found.suggested]});
    }
    visit([&](std::int64_t record, const data::Example& example) {
      const auto found = index.find(record);
      if (found == index.end()) return;
      errors_[found->second].text = example.text;
      if (example.text_pair) errors_[found->second].pair = std::string{*example.text_pair};
    });
  }

  [[nodiscard]] bool has_names() const {
    return source_.labels.problem_type() == ProblemType::single_label && !source_.labels.soft();
  }

  /// Finds texts that examples with different labels have.
  void find_equal_texts() {
    struct Text {
      std::size_t label = 0;
      bool differs = false;
    };
    const auto hash = [](std::string_view text) { return std::hash<std::string_view>{}(text); };
    const auto key = [&](const data::Example& example) {
      std::string both{example.text};
      if (example.text_pair) both.append(1, '\0').append(*example.text_pair);
      return hash(both);
    };
    const auto label_key = [&](std::string_view name) {  // the same for all spellings of a label
      const auto id = has_names() ? source_.labels.find(name) : std::nullopt;
      return id ? static_cast<std::size_t>(*id) : hash(name);
    };
    std::unordered_map<std::size_t, Text> texts;
    visit([&](std::int64_t, const data::Example& example) {
      const std::size_t label = label_key(example.label.value_or(""));
      const auto [found, is_new] = texts.try_emplace(key(example), Text{.label = label});
      if (found->second.label != label) found->second.differs = true;
    });
    std::unordered_map<std::size_t, std::size_t> groups;
    visit([&](std::int64_t record, const data::Example& example) {
      if (!texts.at(key(example)).differs) return;
      const auto [group, is_new] = groups.try_emplace(key(example), groups.size() + 1);
      equal_texts_.push_back({.group = group->second,
                              .row = record,
                              .text = std::string{example.text},
                              .label = std::string{example.label.value_or("")}});
      if (example.text_pair) equal_texts_.back().pair = std::string{*example.text_pair};
    });
    std::ranges::stable_sort(equal_texts_, {}, &run::EqualText::group);
  }

  /// Calls use(record, example) for the examples of the training file.
  template <class Use>
  void visit(const Use& use) const {
    data::visit_examples(source_.file, source_.read, source_.labels,
                         [&](const data::ExamplePlace& place, const data::Example& example) {
                           use(static_cast<std::int64_t>(place.record), example);
                         });
  }

  FoldSource source_;
  const log::Log& log_;
  run::Results results_ = {};
  std::vector<run::OutOfFold> predictions_ = {};
  std::vector<run::DoubtfulLabel> errors_ = {};
  std::vector<run::EqualText> equal_texts_ = {};
};

}  // namespace seqtrain::experiment
