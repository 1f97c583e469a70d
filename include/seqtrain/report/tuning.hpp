#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include <seqtrain/log/format.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/run/tuning.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::report {

/// Returns a row for each trial with its values and its figure in each rung that it reached. A
/// run without a figure has the word none.
[[nodiscard]] inline Rows trial_rows(const run::Tuning& tuning) {
  Rows rows{{"trial"}};
  if (tuning.trials.empty()) return rows;
  const train::Pairs& searched = tuning.trials.front().values;
  for (const auto& [flag, value] : searched) rows.front().push_back(flag);
  for (const auto& rung : run::rungs_of(tuning.trials.size())) {
    const auto parts = std::to_string(std::lround(1 / rung.share));
    rows.front().push_back(tuning.metric + (rung.share < 1 ? ", 1/" + parts : ", whole"));
  }
  for (std::size_t i = 0; i < tuning.trials.size(); ++i) {
    const bool wins = tuning.winner == i + 1;
    auto& row = rows.emplace_back(Rows::value_type{std::to_string(i + 1) + (wins ? ", best" : "")});
    for (const auto& [flag, value] : searched) {
      row.push_back(train::value_in(tuning.trials[i].values, flag));
    }
    for (const auto& run : tuning.trials[i].runs) {
      row.push_back(run.problem.empty() ? log::fixed(run.figure, 4) : "none");
    }
    row.resize(rows.front().size());
  }
  return rows;
}

}  // namespace seqtrain::report
