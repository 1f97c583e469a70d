#pragma once

#include <string_view>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>

namespace seqtrain::metrics {

/// Appends the precision, recall, F1 and support of a label as a JSON object.
inline void append(json::Writer& out, const metrics::LabelScores& scores) {
  out.begin_object()
      .member("precision", scores.precision)
      .member("recall", scores.recall)
      .member("f1", scores.f1)
      .member("support", scores.support)
      .end_object();
}

/// Appends the figures as one member, such as `"metrics": {name: value, …}`, if there are any.
inline void append(json::Writer& out, const std::vector<metrics::Figure>& figures,
                   std::string_view member = "metrics") {
  if (figures.empty()) return;
  out.key(member).begin_object();
  for (const auto& [name, value] : figures) out.member(name, value);
  out.end_object();
}

}  // namespace seqtrain::metrics
