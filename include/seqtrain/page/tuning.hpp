#pragma once

#include <string>

#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/table.hpp>

namespace seqtrain::page {

/// Returns the section of a page with the trials whose best values the run has, or an empty string
/// if there were none.
[[nodiscard]] inline std::string trials_section(const RunFacts& facts) {
  if (facts.trials.empty()) return {};
  return "<section id=\"trials\"><h2>Trials</h2>\n<p>This run has the best values of " +
         std::to_string(facts.trials.size() - 1) +
         " trials. The pages of their runs are in the folder tune, and tune.json has all "
         "figures.</p>\n" +
         html::table(facts.trials, "Values and figures of the trials") + "</section>\n";
}

}  // namespace seqtrain::page
