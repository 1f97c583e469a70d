#pragma once

#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/step_batches.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::train {

/// Returns `model.problem_type()` if the model has it, else `single_label`.
template <Model M>
ProblemType problem_type_of(const M& model) {
  if constexpr (requires { model.problem_type(); }) return model.problem_type();
  return ProblemType::single_label;
}

/// Returns `model.label_names()` if the model has it, else no names.
template <Model M>
std::vector<std::string> label_names_of(const M& model) {
  if constexpr (requires { model.label_names(); }) return model.label_names();
  return {};
}

/// Returns `batch.targets`, numbers [rows, labels] that replace label ids; none if the batch has no
/// such member.
template <Batch B>
std::span<const float> targets_of(const B& batch) {
  if constexpr (requires { batch.targets; }) return batch.targets;
  return {};
}

/// The name of an evaluation with the epochs and steps that training has done.
struct EvalPoint {
  std::string_view split;     ///< name of the examples: "dev", "test"
  std::int64_t epoch = 0;     ///< epochs done
  std::int64_t step = 0;      ///< optimizer steps done
  std::stop_token stop = {};  ///< ends the evaluation with `Stopped`
};

/// Tells whether an argument of `fit` and `evaluate` is a metric.
template <class O>
concept CountsEvaluations = metrics::Metric<std::remove_const_t<O>>;

/// A model that predicts several batches of an evaluation at once. `logits_of` returns the
/// logits of at most `logits_window()` consecutive batches.
template <class M>
concept AnswersWindows = requires(M& model, std::span<const typename M::batch_type> batches) {
  { model.logits_window() } -> std::convertible_to<std::int64_t>;
  { model.logits_of(batches) } -> std::ranges::random_access_range;
};

/// A model that tells the loss of each row of a batch, so that an evaluation has a loss.
template <class M>
concept TellsLosses = requires(const M& model, const typename M::output_type& logits,
                               const typename M::batch_type& batch) {
  { model.losses(logits, batch) } -> std::same_as<metrics::RowLosses>;
};

/// A model scored by its loss that computes several batches of an evaluation at once. `losses_of`
/// returns the losses of at most `losses_window()` consecutive batches.
template <class M>
concept TellsLossesOfWindows = requires(M& model, std::span<const typename M::batch_type> batches) {
  { model.losses_window() } -> std::convertible_to<std::int64_t>;
  { model.losses_of(batches) } -> std::ranges::random_access_range;
};

/// Returns the losses of a batch's rows. Throws `Error` unless there is one loss and one weight for
/// each row.
template <class B>
metrics::RowLosses checked_losses(metrics::RowLosses rows, const B& batch) {
  const auto count = static_cast<std::size_t>(batch.rows);
  if (rows.losses.size() == count && rows.weights.size() == count) return rows;
  throw Error{"the model tells " + std::to_string(rows.losses.size()) + " losses and " +
              std::to_string(rows.weights.size()) + " weights of " + std::to_string(count) +
              " rows"};
}

namespace detail {

/// Returns `model.losses(logits, batch)` if the model has it, else nothing. Throws `Error` unless
/// there is one loss and one weight for each row.
template <class M, class Logits>
metrics::RowLosses losses_of(const M& model, const Logits& logits,
                             const typename M::batch_type& batch) {
  if constexpr (TellsLosses<M>) {
    return checked_losses(model.losses(logits, batch), batch);
  } else {
    return {};
  }
}

/// Returns a tuple with a copy of the argument if it is a metric, or with nothing if the metric
/// leaves the problem type out, else an empty tuple. Throws as `metrics::is_counted` does.
template <class O>
auto counting_copy(const O& observer, ProblemType type) {
  if constexpr (CountsEvaluations<O>) {
    return std::tuple{metrics::is_counted(observer, type) ? std::optional{observer} : std::nullopt};
  } else {
    return std::tuple{};
  }
}

/// Scores a classifier's predictions, also by the user's metrics.
template <Classifier M, class... Observers>
class Scoring {
 public:
  /// Throws `InputError` if a metric cannot count the model's examples.
  Scoring(const M& model, const Observers&... observers)
      : type_{problem_type_of(model)},
        evaluation_{type_, label_names_of(model)},
        own_{std::tuple_cat(counting_copy(observers, type_)...)} {}

  /// Returns how many batches `add` takes at once.
  static std::int64_t window(const M& model) {
    if constexpr (AnswersWindows<M>) return model.logits_window();
    return 1;
  }

  /// Scores batches. Calls `tell` for each with an `EvalPredictions` whose split is empty.
  template <class B, class Tell>
  void add(M& model, std::span<const B> batches, const Tell& tell) {
    const auto take = [&](const auto& outputs, const B& batch) {
      score(outputs, batch);
      const metrics::RowLosses losses = losses_of(model, outputs, batch);
      loss_.add(losses);
      if constexpr (std::same_as<std::remove_cvref_t<decltype(outputs)>, metrics::Logits>) {
        not_finite_ += outputs.rows() - outputs.array().isFinite().rowwise().all().count();
        with_values(outputs, batch, [&](const metrics::Logits& logits) {
          auto event = predictions(logits, batch);
          event.losses = losses.losses;
          tell(event);
        });
      }
    };
    if constexpr (AnswersWindows<M>) {
      const auto logits = model.logits_of(batches);
      for (std::size_t i = 0; i < batches.size(); ++i) take(logits[i], batches[i]);
    } else {
      for (const B& batch : batches) take(model.logits(batch), batch);
    }
  }

  /// Returns the number of examples with a logit that is not finite.
  [[nodiscard]] std::int64_t not_finite() const { return not_finite_; }

  [[nodiscard]] metrics::ClassificationReport report() const {
    auto report = evaluation_.report();
    report.loss = loss_.value();
    report.has_loss = TellsLosses<M>;
    for_each_metric(own_, [&](const auto& metric) {  //
      report.figures.push_back(metrics::figure(metric));
    });
    return report;
  }

 private:
  template <class B>
  EvalPredictions predictions(const metrics::Logits& logits, const B& batch) const {
    EvalPredictions event{.split = {},
                          .problem_type = type_,
                          .logits = logits,
                          .labels = batch.labels,
                          .targets = targets_of(batch)};
    if constexpr (requires { batch.row_ids; }) event.row_ids = batch.row_ids;
    return event;
  }

  /// Calls `use` with the outputs that are the predicted values. In a regression these are the
  /// first ones of a row: a model may have further outputs, such as a variance, for its loss and
  /// metrics.
  template <class Outputs, class B, class Use>
  void with_values(const Outputs& outputs, const B& batch, const Use& use) const {
    if constexpr (std::same_as<Outputs, metrics::Logits>) {
      const auto targets = static_cast<Eigen::Index>(targets_of(batch).size());
      const Eigen::Index values = outputs.rows() == 0 ? 0 : targets / outputs.rows();
      const bool has_more = values > 0 && outputs.cols() > values;
      if (has_more && type_ == ProblemType::regression) {
        return use(metrics::Logits{outputs.leftCols(values)});
      }
    }
    use(outputs);
  }

  template <class Outputs, class B>
  void score(const Outputs& outputs, const B& batch) {
    with_values(outputs, batch, [&](const auto& values) {
      evaluation_.add(values, batch.labels, targets_of(batch));
    });
    for_each_metric(own_, [&](auto& metric) {
      metrics::count(metric, type_, outputs, batch.labels, targets_of(batch));
    });
  }

  template <class Own, class Use>
  static void for_each_metric(Own& own, const Use& use) {
    std::apply([&](auto&... each) { ((each ? use(*each) : void()), ...); }, own);
  }

  ProblemType type_;
  metrics::Evaluation evaluation_;
  metrics::MeanRowLoss loss_;
  std::int64_t not_finite_ = 0;
  decltype(std::tuple_cat(counting_copy(std::declval<const Observers&>(), ProblemType{})...)) own_;
};

/// Scores a language model by its mean loss over all words and by its perplexity, the exponential
/// of that loss.
template <LanguageModel M>
class Perplexity {
 public:
  static std::int64_t window(const M&) { return 1; }

  template <class B, class Tell>
  void add(M& model, std::span<const B> batches, const Tell&) {
    for (const B& batch : batches) {
      const auto words = static_cast<double>(batch.tokens());
      loss_ += static_cast<double>(model.evaluate(batch)) * words;
      words_ += words;
    }
  }

  static std::int64_t not_finite() { return 0; }

  [[nodiscard]] metrics::ClassificationReport report() const {
    const double loss = loss_ / words_;
    return {.problem_type = ProblemType::language_modeling,
            .examples = static_cast<std::int64_t>(words_),
            .loss = loss,
            .figures = {{.name = "perplexity", .value = std::exp(loss)}}};
  }

 private:
  double loss_ = 0;
  double words_ = 0;
};

/// Scores a model by its mean loss over all rows.
template <ScoredByLoss M>
class EvaluationLoss {
 public:
  static std::int64_t window(const M& model) {
    if constexpr (TellsLossesOfWindows<M>) return model.losses_window();
    return 1;
  }

  template <class B, class Tell>
  void add(M& model, std::span<const B> batches, const Tell&) {
    if constexpr (TellsLossesOfWindows<M>) {
      const auto losses = model.losses_of(batches);
      for (std::size_t i = 0; i < batches.size(); ++i) take(losses[i], batches[i]);
    } else {
      for (const B& batch : batches) take(model.losses(batch), batch);
    }
  }

  static std::int64_t not_finite() { return 0; }

  [[nodiscard]] metrics::ClassificationReport report() const {
    return {.problem_type = ProblemType::loss_alone, .examples = examples_, .loss = loss_.value()};
  }

 private:
  template <class B>
  void take(const metrics::RowLosses& losses, const B& batch) {
    loss_.add(checked_losses(losses, batch));
    examples_ += static_cast<std::int64_t>(batch.rows);
  }

  metrics::MeanRowLoss loss_;
  std::int64_t examples_ = 0;
};

/// Returns a `Scoring` for a classifier, a `Perplexity` for a language model, or an
/// `EvaluationLoss`.
template <class M, class... Observers>
auto scoring_of(const M& model, const Observers&... observers) {
  if constexpr (Classifier<M>) {
    return Scoring<M, Observers...>{model, observers...};
  } else if constexpr (LanguageModel<M>) {
    return Perplexity<M>{};
  } else {
    return EvaluationLoss<M>{};
  }
}

}  // namespace detail

/// Returns a report without examples. Its figures have the names that an evaluation with these
/// arguments gives.
template <class M, class... Observers>
metrics::ClassificationReport empty_report(const M& model, const Observers&... observers) {
  return detail::scoring_of(model, observers...).report();
}

/// Runs the model over all of a loader's examples, without gradients or dropout: a `Classifier` is
/// scored by its predictions, any other by its loss. Figures are running counts, so memory
/// for one batch's predictions is enough. Copies of the `metrics::Metric`s among the observers
/// score a classifier's predictions too. A notice says how many examples have a logit that is not
/// finite. Throws `InputError` if a metric cannot count the model's examples, and `Stopped` if a
/// stop is requested.
template <Evaluable M, LoaderFor<M> L, class... Observers>
metrics::ClassificationReport evaluate(M& model, L& loader, const EvalPoint& point,
                                       Observers&... observers) {
  notify(EvalBegin{point.split, point.epoch, point.step}, observers...);
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t batches = loader.batches_in(0);
  std::int64_t done = 0;
  auto scoring = detail::scoring_of(model, observers...);
  StepBatches<typename M::batch_type> window{scoring.window(model), 0, batches};
  const auto tell = [&](EvalPredictions predictions) {
    predictions.split = point.split;
    notify(predictions, observers...);
  };
  for (const typename M::batch_type& batch : loader.epoch(0)) {
    if (point.stop.stop_requested()) throw Stopped{"stopped during an evaluation"};
    if (window.add(batch)) scoring.add(model, window.batches(), tell);
    notify(EvalStep{.split = point.split,
                    .batch = ++done,
                    .batches = batches,
                    .examples = batch.rows,
                    .tokens = batch.tokens()},
           observers...);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const auto report = scoring.report();
  if (const std::int64_t count = scoring.not_finite(); count > 0) {
    const std::string text = std::string{point.split} + ": the model computes a logit that is not" +
                             " a finite number for " + std::to_string(count) +
                             " examples; the figures take any label for theirs";
    notify(Notice{.text = text, .warning = true}, observers...);
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
