#pragma once

#include <string>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/request.hpp>

namespace seqtrain::tests {

inline const predict::Task polarity{.labels = {"bad", "good"}};
inline const predict::Task topics{.labels = {"a", "b", "c"},
                                  .problem_type = ProblemType::multi_label};
inline const predict::Task rating{.problem_type = ProblemType::regression};
inline const predict::Task ratings{.labels = {"a", "b"}, .problem_type = ProblemType::regression};

/// Returns what a contract writes for a text with a prediction.
inline std::string written(serve::WriteAnswer write, const predict::Task& task,
                           const predict::Prediction& prediction, bool raw = false) {
  json::Writer out;
  write(out, {.raw_scores = raw}, prediction, task);
  return out.text();
}

}  // namespace seqtrain::tests
