#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/random.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/page/run_page.hpp>
#include <seqtrain/report/json_lines.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::tests {

/// Returns texts that would break a page if they were not escaped.
inline std::vector<std::string> hostile_texts() {
  return {"<script>document.title = 'taken'</script>",
          "\"><img src=x onerror=\"document.title='taken'\">",
          "&lt;b&gt; & 'quotes' \" ` </td></table></script><!-- <style>*{display:none}</style>",
          "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xE2\x80\xAE"
          "desrever",
          std::string{"null "} + '\0' + " bell \a escape \x1b[31m delete \x7f",
          "![CDATA[ ]]> {{7*7}} ${7*7} javascript:alert(1)",
          std::string(1'000'000, '"')};
}

/// A made-up run with its own dev file in a directory.
struct MadePage {
  ProblemType problem_type = ProblemType::single_label;
  std::size_t labels = 3;
  std::size_t examples = 200;
  std::int64_t epochs = 2;
  std::int64_t steps = 400;
  bool dev = true;
  std::vector<std::string> texts = {};  ///< texts of the first examples
  bool shows_texts = true;
  bool calibrated = false;
  std::vector<run::Advice> advice = {};
  report::Rows baseline = {};  ///< figures of simple models
  report::Rows trials = {};
  page::Explain explain = {};

  /// Writes dev.jsonl, train_log.jsonl and report.html.
  void write(const std::filesystem::path& directory) const {
    std::filesystem::create_directories(directory);
    write_dev(directory / "dev.jsonl");
    run::KeptPredictions predictions;
    report::JsonLines log{directory / "train_log.jsonl", {.every = 1}};
    page::RunPage page{options(directory), predictions};
    const auto tell = [&](const auto& event) { train::notify(event, predictions, log, page); };
    tell(train::FitBegin{epochs, steps, 1000});
    const std::int64_t an_epoch = steps / epochs;
    for (std::int64_t step = 1; step <= steps; ++step) {
      take_step(log, step);
      if (step == steps / 3) tell(train::StepSkipped{step, 1, "a gradient is not finite"});
      if (step % an_epoch != 0) continue;
      const std::int64_t epoch = step / an_epoch;
      if (dev) evaluate(epoch, step, tell);
      tell(train::EpochEnd{epoch, epochs});
    }
    tell(train::FitEnd{steps, 12.5});
    page.compare(baseline, "a <b>simple</b> model is better");
    const auto* const found = predictions.find("dev");
    if (calibrated && found != nullptr) {
      const auto chosen = run::calibrate(*found, task());
      page.finish(&chosen, true, explain, advice);
    } else {
      page.finish(nullptr, true, explain, advice);
    }
  }

  [[nodiscard]] predict::Task task() const {
    predict::Task task{.problem_type = problem_type};
    for (std::size_t i = 0; i < labels; ++i) task.labels.push_back("label " + std::to_string(i));
    if (labels != 3) return task;
    task.labels[1] = "<b>bold</b>";
    task.labels[2] = "line\nbreak";
    return task;
  }

 private:
  [[nodiscard]] double random(std::uint64_t a, std::uint64_t b) const {
    return random::to_double(random::mix(std::uint64_t{7}, a, b));
  }
  [[nodiscard]] std::size_t gold(std::size_t row) const { return row % labels; }
  [[nodiscard]] bool has(std::size_t row, std::size_t label) const {
    return label == gold(row) || (row + label) % 5 == 0;
  }

  void write_dev(const std::filesystem::path& file) const {
    AtomicFile out{file};
    const auto names = task().labels;
    for (std::size_t row = 0; row < examples; ++row) {
      json::Writer line;
      line.begin_object();
      line.member("sentence",
                  row < texts.size() ? texts[row] : "A text " + std::to_string(row / 2 * 2) + ".");
      line.key("label");
      if (problem_type == ProblemType::regression && labels == 1) {
        line.value(static_cast<double>(row % 5));
      } else if (problem_type == ProblemType::regression) {
        line.value(std::vector<double>(labels, static_cast<double>(row % 5)));
      }
      if (problem_type == ProblemType::loss_alone) line.null();
      if (problem_type == ProblemType::single_label) line.value(names[gold(row)]);
      if (problem_type == ProblemType::multi_label) {
        line.begin_array();
        for (std::size_t i = 0; i < labels; ++i) {
          if (has(row, i)) line.value(names[i]);
        }
        line.end_array();
      }
      out.write(line.end_object().text() + "\n");
    }
    out.commit();
  }

  [[nodiscard]] page::RunPageOptions options(const std::filesystem::path& directory) const {
    page::RunPageOptions options{.file = directory / "report.html",
                                 .log = directory / "train_log.jsonl",
                                 .facts = {.name = "made · <run>",
                                           .command = "mnli --epochs 2",
                                           .model_place = (directory / "model").string(),
                                           .changed = {{"epochs", "2"}, {"seed", "<&>"}},
                                           .versions = {{"seqtrain", "0.1"}},
                                           .machine = {{"device", "cpu"}},
                                           .task = task(),
                                           .max_length = 128,
                                           .texts = shows_texts,
                                           .trials = trials}};
    for (auto* set : {&options.facts.train, &options.facts.dev}) {
      set->examples = examples;
      set->labels.assign(labels, static_cast<std::int64_t>(examples / labels));
      set->at_max_length = 3;
      for (int i = 0; i < 20; ++i) set->lengths.push_back({i * 6.0 + 3, i % 7 / 60.0});
    }
    options.facts.train.file = "train.jsonl";
    options.facts.dev.file = (directory / "dev.jsonl").string();
    if (dev) options.labels.emplace(task().labels, problem_type);
    return options;
  }

  void take_step(report::JsonLines& log, std::int64_t step) const {
    const auto at = static_cast<std::uint64_t>(step);
    const std::function<double()> loss = [=, this] {
      return step == steps / 2 ? 99.0 : 1 + 3.0 / static_cast<double>(step) + random(at, 1) / 5;
    };
    const std::function<double()> norm = [&] { return 1 + random(at, 2); };
    log.on(train::StepEnd{.step = step,
                          .steps = steps,
                          .epoch = 1 + (step - 1) * epochs / steps,
                          .batch = (step - 1) % (steps / epochs) + 1,
                          .batches = steps / epochs,
                          .examples = 16,
                          .tokens = 500,
                          .learning_rate = 5e-5 * static_cast<double>(steps - step),
                          .loss = loss,
                          .gradient_norm = norm});
  }

  template <class Tell>
  void evaluate(std::int64_t epoch, std::int64_t step, const Tell& tell) const {
    tell(train::EvalBegin{"dev", epoch, step});
    const bool regression = problem_type == ProblemType::regression;
    const std::size_t columns = labels;
    metrics::Logits logits(static_cast<Eigen::Index>(examples), static_cast<Eigen::Index>(columns));
    std::vector<std::int64_t> ids, rows;
    std::vector<float> targets;
    std::vector<double> losses;
    for (std::size_t row = 0; row < examples; ++row) {
      const std::size_t place = examples - 1 - row;  // another order than the file's
      rows.push_back(static_cast<std::int64_t>(place));
      ids.push_back(
          problem_type == ProblemType::single_label ? static_cast<std::int64_t>(gold(place)) : 0);
      double loss = 0;
      for (std::size_t i = 0; i < columns; ++i) {
        const bool yes =
            problem_type == ProblemType::multi_label ? has(place, i) : i == gold(place);
        const double noise = 6 * random(place * 1000 + i, static_cast<std::uint64_t>(epoch)) - 3;
        const double right = place < texts.size() ? -9 : 2;  // so that the page shows those texts
        const double truth = regression ? static_cast<double>(place % 5) : yes ? right : 0.0;
        logits(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(i)) =
            static_cast<float>(truth + noise / (regression ? 6 : 1));
        loss += yes ? 3 - truth : 0;
        if (problem_type != ProblemType::single_label) {
          targets.push_back(static_cast<float>(regression ? truth : yes ? 1 : 0));
        }
      }
      losses.push_back(loss);
    }
    tell(train::EvalPredictions{.split = "dev",
                                .problem_type = problem_type,
                                .logits = logits,
                                .labels = ids,
                                .targets = targets,
                                .row_ids = rows,
                                .losses = losses});
    metrics::Evaluation evaluation{problem_type, task().labels};
    evaluation.add(logits, ids, targets);
    auto report = evaluation.report();
    report.loss = 0.75;
    tell(train::EvalEnd{
        .split = "dev", .epoch = epoch, .step = step, .seconds = 1, .report = report});
  }
};

}  // namespace seqtrain::tests
