#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <seqtrain/concepts.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/problem.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::train {

/// Where in a run an evaluation took place.
struct EvalPoint {
  std::string_view split;  ///< "dev", "test"
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t step = 0;   ///< optimizer steps done
  std::stop_token stop = {};
};

/// A metric among observers.
template <class O>
concept CountsEvaluations = metrics::Metric<std::remove_const_t<O>>;

namespace detail {

/// What of an observer counts an evaluation: a copy where it is a metric, else nothing.
template <class O>
auto counting_copy(const O& observer) {
  if constexpr (CountsEvaluations<O>) {
    return std::tuple{observer};
  } else {
    return std::tuple{};
  }
}

}  // namespace detail

/// Runs the model over all of a loader's examples, without gradients or dropout. Figures are kept
/// as running counts: the logits of one batch are all that is ever held. Of each `metrics::Metric`
/// among the observers a copy counts too, where the problem is one of a label an example. Throws
/// `Stopped` where a stop is requested meanwhile.
template <Model M, LoaderFor<M> L, class... Observers>
metrics::ClassificationReport evaluate(M& model, L& loader, const EvalPoint& point,
                                       Observers&... observers) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t batches = loader.batches_in(0);
  std::int64_t done = 0;
  const ProblemType type = problem_type_of(model);
  const bool has_labels = type == ProblemType::single_label;
  metrics::Evaluation evaluation{type};
  auto own = std::tuple_cat(detail::counting_copy(observers)...);
  for (const typename M::batch_type& batch : loader.epoch(0)) {
    if (point.stop.stop_requested()) throw Stopped{"stopped while evaluating"};
    const auto logits = model.logits(batch);
    evaluation.add(logits, batch.labels, targets_of(batch));
    if (has_labels) std::apply([&](auto&... each) { (each.add(logits, batch.labels), ...); }, own);
    notify(EvalStep{.split = point.split,
                    .batch = ++done,
                    .batches = batches,
                    .examples = batch.rows,
                    .tokens = batch.tokens()},
           observers...);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  auto report = evaluation.report();
  if (has_labels) {
    std::apply([&](const auto&... each) { report.figures = {metrics::figure(each)...}; }, own);
  }
  notify(EvalEnd{.split = point.split,
                 .epoch = point.epoch,
                 .step = point.step,
                 .seconds = elapsed.count(),
                 .report = report},
         observers...);
  return report;
}

}  // namespace seqtrain::train
