#pragma once

#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/parameters.hpp>

namespace seqtrain::model {

/// The lines that a log should have about a checkpoint: what is new, and what was left out.
inline std::string describe(const LoadReport& report) {
  const auto line = [](const std::string& what, const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? what + ": " : ", ") + name;
    return text.empty() ? text : text + "\n";
  };
  return line("New, not in the checkpoint", report.fresh) +
         line("Left out of the checkpoint", report.left_out);
}

/// Throws `InputError` where a model that is meant to be used as it is has parts that its
/// checkpoint lacks.
inline void check_trained(const LoadReport& report) {
  if (report.fresh.empty()) return;
  throw InputError{"the checkpoint has no such tensor, so the model is not trained",
                   {.object = report.fresh.front()},
                   "fine-tune it first"};
}

}  // namespace seqtrain::model
