#pragma once

#include <algorithm>
#include <cctype>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/encoding.hpp>

/// Zero-shot classification (Yin et al. 2019): a model of natural language inference tells how far
/// a text entails a hypothesis about each label, such as "This example is politics.". The scores
/// are those of transformers' pipeline `zero-shot-classification`.
namespace seqtrain::predict {

/// The labels of zero-shot classification, and the hypothesis about each of them.
struct CandidateLabels {
  std::vector<std::string> labels = {};
  std::string hypothesis = "This example is {}.";  ///< the label takes the place of `{}`
  bool multi_label = false;  ///< each label is judged alone, and a text may have any number

  /// Returns the label that is given twice, or nothing.
  [[nodiscard]] std::optional<std::string> repeated() const {
    std::set<std::string_view> seen;
    for (const std::string& label : labels) {
      if (!seen.insert(label).second) return label;
    }
    return {};
  }

  /// Tells whether the hypothesis has one place for the label.
  [[nodiscard]] bool has_place() const {
    const auto place = hypothesis.find("{}");
    return place != hypothesis.npos && hypothesis.find("{}", place + 2) == hypothesis.npos;
  }

  /// Returns the hypothesis about a label.
  [[nodiscard]] std::string about(std::string_view label) const {
    return std::string{hypothesis}.replace(hypothesis.find("{}"), 2, label);
  }

  /// Returns how logits about the labels are interpreted. A single label is judged alone.
  [[nodiscard]] Task task() const {
    const bool alone = multi_label || labels.size() == 1;
    return {.labels = labels,
            .problem_type = alone ? ProblemType::multi_label : ProblemType::single_label};
  }
};

/// The outputs of a model of natural language inference that tell how far a text entails another.
struct EntailmentOutputs {
  std::size_t entailment = 0;
  std::size_t contradiction = 0;
};

/// Finds the outputs by the names of a model's labels, in any case: `entail…`, and `contra…`. If no
/// label has the latter name, contradiction is the first label or, if that is the entailment, the
/// last one. Throws `InputError` that lists the labels if there is no entailment.
[[nodiscard]] inline EntailmentOutputs entailment_outputs(const Task& task) {
  const auto find = [&](std::string_view begin) {
    return std::ranges::find_if(task.labels, [&](const std::string& label) {
      return std::ranges::equal(
          std::string_view{label}.substr(0, begin.size()), begin,
          [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    });
  };
  const auto entailment = find("entail"), contradiction = find("contra");
  if (entailment == task.labels.end() || task.labels.size() < 2) {
    throw InputError{"its labels are " + joined(task.labels, " and ") +
                         ", but zero-shot classification needs a label whose name begins with "
                         "entail, and another one",
                     {.object = "model"},
                     "use a model of natural language inference, such as one trained on MNLI"};
  }
  const auto first = static_cast<std::size_t>(entailment - task.labels.begin());
  if (contradiction == task.labels.end()) {
    return {.entailment = first, .contradiction = first == 0 ? task.labels.size() - 1 : 0};
  }
  return {.entailment = first,
          .contradiction = static_cast<std::size_t>(contradiction - task.labels.begin())};
}

/// Returns the logit of a label, given the model's logits for a text with the hypothesis about it:
/// the entailment's or, if the label is judged `alone`, the entailment's minus the contradiction's.
[[nodiscard]] inline float zero_shot_logit(std::span<const float> logits,
                                           const EntailmentOutputs& outputs, bool alone) {
  const float entailment = logits[outputs.entailment];
  return alone ? entailment - logits[outputs.contradiction] : entailment;
}

/// A `Predictor` whose `encode` can be told which ids a text keeps.
template <class P>
concept TruncatingPredictor = Predictor<P> &&
    requires(const P& predictor, std::string_view text, std::optional<std::string_view> pair,
             std::size_t max_length) {
  { predictor.encode(text, pair, max_length, text::LongTexts{}) } -> std::same_as<Encoded>;
};

/// A predictor of labels that a model was not trained for. The model computes the pairs of all
/// texts with all hypotheses in batches of pairs with similar lengths. Of a pair that is too long
/// the text is cut, and not the hypothesis.
template <TruncatingPredictor P>
class ZeroShot {
 public:
  /// `model` must outlive this object. Throws `InputError` as `entailment_outputs` does.
  ZeroShot(const P& model, CandidateLabels candidates, std::size_t batch_size = 32)
      : model_{&model},
        candidates_{std::move(candidates)},
        batch_size_{batch_size},
        outputs_{entailment_outputs(model.task())},
        task_{candidates_.task()} {}

  [[nodiscard]] const Task& task() const { return task_; }

  /// Returns the ids of the text with each hypothesis. Throws `InputError` for a pair of texts.
  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               std::size_t max_length) const {
    if (pair) {
      throw InputError{"has a second text, but zero-shot classification takes single texts"};
    }
    std::vector<Encoded> pairs;
    for (const std::string& label : candidates_.labels) {
      pairs.push_back(
          model_->encode(text, candidates_.about(label), max_length, text::LongTexts::only_first));
    }
    Encoded first = std::move(pairs.front());
    pairs.erase(pairs.begin());
    first.others = std::move(pairs);
    return first;
  }

  /// Returns the logits of each text [texts, candidate labels].
  [[nodiscard]] metrics::Logits predict(std::span<const Encoded> texts) const {
    const auto labels = task_.labels.size();
    std::vector<const Encoded*> pairs;
    for (const Encoded& text : texts) {
      pairs.push_back(&text);
      for (const Encoded& other : text.others) pairs.push_back(&other);
    }
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return pairs[i]->input_ids.size(); });
    metrics::Logits logits{texts.size(), labels};
    for (std::size_t begin = 0; begin < order.size(); begin += batch_size_) {
      const std::size_t count = std::min(batch_size_, order.size() - begin);
      predict(pairs, std::span{order}.subspan(begin, count), logits);
    }
    return logits;
  }

 private:
  /// Sets the logits of the pairs with these numbers.
  void predict(std::span<const Encoded* const> pairs, std::span<const std::size_t> numbers,
               metrics::Logits& logits) const {
    std::vector<Encoded> batch;
    for (const std::size_t i : numbers) {
      batch.push_back({pairs[i]->input_ids, pairs[i]->first_segment, pairs[i]->adapter});
    }
    const metrics::Logits rows = model_->predict(batch);
    const bool alone = task_.problem_type == ProblemType::multi_label;
    const auto width = static_cast<std::size_t>(rows.cols());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      logits.data()[numbers[i]] =
          zero_shot_logit({rows.data() + i * width, width}, outputs_, alone);
    }
  }

  const P* model_;
  CandidateLabels candidates_;
  std::size_t batch_size_;
  EntailmentOutputs outputs_;
  Task task_;
};

}  // namespace seqtrain::predict
