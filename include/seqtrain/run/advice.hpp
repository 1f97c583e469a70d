#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::run {

/// The facts of a finished run that advice follows from. A member that is not known has its
/// default, and rules that need it give no advice.
struct AdviceFacts {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  std::vector<metrics::ClassificationReport> dev = {};  ///< figures of dev after each epoch
  std::size_t epoch_of_model = 0;  ///< index in `dev` of the epoch whose parameters the model has
  train::Selection selection = {};
  std::vector<std::string> labels = {};           ///< names; none for regression
  std::vector<std::size_t> training_labels = {};  ///< training examples with each label
  std::size_t training_examples = 0;
  std::size_t cut_examples = 0;      ///< training examples with the maximum length
  std::size_t max_length = 0;        ///< most ids of an example
  std::size_t model_max_length = 0;  ///< most ids that the model reads
  double tokens_a_word = unknown;    ///< that of the training texts
  std::size_t vocabulary = 0;        ///< entries of the tokenizer's vocabulary; 0 if not known
  std::int64_t steps = 0;
  /// The mean loss of the last epoch's steps, if it is of the same kind as dev's.
  double training_loss = unknown;
  double r_squared = unknown;           ///< that of dev, in a regression
  double learning_rate = unknown;       ///< if it is one of the Adam family
  double head_learning_rate = unknown;  ///< if the head has one of its own
  double high_learning_rate = 2e-4;     ///< the highest that is usual for what is trained
  bool has_class_weights = false;
  std::size_t tuned_trials = 0;  ///< if the values of the run are the best of a tuning
  bool has_test = false;         ///< whether there are figures of test examples
  /// Tells whether the program has a flag. By default it has all of them.
  std::function<bool(std::string_view flag)> has_flag = [](std::string_view) { return true; };
};

/// A sentence about a finished run that helps to make the next one better.
struct Advice {
  std::string rule = {};  ///< the name of its rule, such as "overfits"
  std::string text = {};
};

/// The rules of advice. Each returns a sentence if it is true of the run, else "".
namespace advice {

/// A remedy that needs a flag.
struct Remedy {
  std::string_view flag;
  std::string text;
};

/// Returns `; a, or b` with the remedies whose flags the program has, or "" if there are none.
inline std::string remedies(const AdviceFacts& facts, const std::vector<Remedy>& all) {
  std::string text;
  for (const auto& [flag, remedy] : all) {
    if (!remedy.empty() && facts.has_flag(flag)) text += (text.empty() ? "; " : ", or ") + remedy;
  }
  return text;
}

/// Returns a number with three digits.
inline std::string digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

/// Returns `0.512 after epoch 1`.
inline std::string loss_after(const AdviceFacts& facts, std::size_t epoch) {
  return digits(facts.dev[epoch].loss) + " after epoch " + std::to_string(epoch + 1);
}

/// Returns the index of the epoch with the lowest loss on dev, which must have an epoch.
inline std::size_t lowest_loss(const AdviceFacts& facts) {
  const auto lowest =
      std::ranges::min_element(facts.dev, {}, [](const auto& report) { return report.loss; });
  return static_cast<std::size_t>(lowest - facts.dev.begin());
}

/// Returns the advice to change the learning rate. That of the head keeps its ratio to the others'.
inline Remedy other_rate(const AdviceFacts& facts) {
  const double rate = facts.learning_rate, high = facts.high_learning_rate;
  if (std::isnan(rate)) return {"learning-rate", "another --learning-rate"};
  const bool is_high = rate >= high;
  const double other = is_high ? high / 4 : std::min(4 * rate, high);
  std::string text = "--learning-rate, such as " + digits(other);
  if (!std::isnan(facts.head_learning_rate)) {
    text += " with --head-learning-rate " + digits(other * facts.head_learning_rate / rate);
  }
  return {"learning-rate", (is_high ? "a lower " : "a higher ") + text};
}

/// Returns the remedies of a model that has learned nothing although its data has answers.
inline std::vector<Remedy> learn_more(const AdviceFacts& facts) {
  const std::string steps =
      facts.steps > 0 ? " (this run took " + std::to_string(facts.steps) + " steps)" : "";
  return {{"epochs", "train longer with more --epochs" + steps}, other_rate(facts)};
}

/// Returns the advice to weigh labels if the most frequent one has most of the training examples.
inline Remedy weigh_labels(const AdviceFacts& facts) {
  const auto& counts = facts.training_labels;
  if (counts.empty() || facts.has_class_weights || std::ranges::count(counts, 0U) > 0) return {};
  const auto most = std::ranges::max_element(counts);
  const double share = static_cast<double>(*most) / static_cast<double>(facts.training_examples);
  if (share < 0.6) return {};
  return {"class-weights",
          "weigh rare labels more by --class-weights auto (" + digits(100 * share) +
              " % of the training examples have the label '" +
              shown(facts.labels[static_cast<std::size_t>(most - counts.begin())]) + "')"};
}

/// Says that the training examples have only one label.
inline std::string one_training_label(const AdviceFacts& facts) {
  const bool has_one =
      facts.dev.empty() || facts.dev.back().problem_type == ProblemType::single_label;
  const auto& counts = facts.training_labels;
  if (!has_one) return {};
  const auto none = static_cast<std::size_t>(std::ranges::count(counts, 0U));
  if (counts.size() < 2 || counts.size() - none != 1) return {};
  const auto label = std::ranges::find_if(counts, [](std::size_t count) { return count > 0; });
  return "all training examples have the label '" +
         shown(facts.labels[static_cast<std::size_t>(label - counts.begin())]) +
         "', so the model cannot learn another";
}

/// Returns the label that a model answers to every example of dev, although not all have it.
inline std::optional<std::size_t> only_answer(const metrics::ClassificationReport& dev) {
  if (dev.problem_type != ProblemType::single_label || dev.confusion.rows() < 2) return {};
  const auto answers = dev.confusion.colwise().sum();
  Eigen::Index said = 0;
  const auto most = answers.maxCoeff(&said);
  if (most == 0 || most < answers.sum() || dev.confusion.row(said).sum() == most) return {};
  return static_cast<std::size_t>(said);
}

/// Says that the model answers every example of dev with the same label.
inline std::string answers_one_label(const AdviceFacts& facts) {
  if (facts.dev.empty() || !one_training_label(facts).empty()) return {};
  const auto& dev = facts.dev.at(facts.epoch_of_model);
  const auto said = only_answer(dev);
  if (!said) return {};
  auto all = learn_more(facts);
  all.insert(all.begin(), weigh_labels(facts));
  return "the model answers all " + std::to_string(dev.examples) + " dev examples with '" +
         shown(facts.labels[*said]) + "', so it has learned nothing" + remedies(facts, all);
}

/// Says that a model of several labels gives every example of dev the same ones.
inline std::string answers_the_same_labels(const AdviceFacts& facts) {
  if (facts.dev.empty()) return {};
  const auto& dev = facts.dev.at(facts.epoch_of_model);
  if (dev.problem_type != ProblemType::multi_label || dev.examples == 0) return {};
  bool any_said = false, any_differs = false;
  for (const auto& row : dev.confusion.rowwise()) {
    const auto said = row[metrics::true_positives] + row[metrics::false_positives];
    const auto gold = row[metrics::true_positives] + row[metrics::false_negatives];
    if (said != 0 && said != dev.examples) return {};
    any_said = any_said || said > 0;
    any_differs = any_differs || (gold != 0 && gold != dev.examples);
  }
  if (!any_differs) return {};
  auto all = learn_more(facts);
  const bool all_have_examples = std::ranges::count(facts.training_labels, 0U) == 0;
  if (!facts.has_class_weights && !any_said && all_have_examples) {
    all.insert(all.begin(), {"class-weights", "--class-weights auto makes it give labels"});
  }
  return "the model gives " +
         std::string{any_said ? "the same labels to every" : "no label to any"} +
         " dev example, so it has learned nothing" + remedies(facts, all);
}

/// Says that a model of numbers predicts no better than their mean.
inline std::string predicts_the_mean(const AdviceFacts& facts) {
  if (std::isnan(facts.r_squared) || facts.r_squared > 0.02) return {};
  return "on dev the model predicts no better than the mean of the targets (R² " +
         digits(facts.r_squared) + "), so it has learned nothing" +
         remedies(facts, learn_more(facts));
}

/// Says that the loss on dev was still falling when the run ended.
inline std::string still_falling(const AdviceFacts& facts) {
  const std::size_t epochs = facts.dev.size();
  if (epochs < 2 || lowest_loss(facts) + 1 != epochs) return {};
  if (facts.dev[epochs - 1].loss > 0.98 * facts.dev[epochs - 2].loss) return {};
  const double best = facts.selection.score(facts.dev[facts.selection.best(facts.dev)]);
  if (facts.selection.score(facts.dev.back()) < best) return {};
  return "the loss on dev still falls at the end (" + loss_after(facts, epochs - 2) + ", " +
         loss_after(facts, epochs - 1) + ")" +
         remedies(facts, {{"epochs", "more --epochs may make the model better"}});
}

/// Says that an earlier epoch was better than the last one, which the model has.
inline std::string earlier_was_better(const AdviceFacts& facts) {
  if (facts.dev.empty() || facts.epoch_of_model + 1 != facts.dev.size()) return {};
  const std::size_t best = facts.selection.best(facts.dev);
  const auto then = facts.selection.figure(facts.dev[best]);
  const auto now = facts.selection.figure(facts.dev.back());
  if (!then || !now || best == facts.epoch_of_model) return {};
  if (facts.selection.score(facts.dev[best]) == facts.selection.score(facts.dev.back())) return {};
  return "epoch " + std::to_string(best + 1) +
         " was better on dev than the last, which the model " + "is from (" + then->name + " " +
         digits(then->value) + ", not " + digits(now->value) + ")" +
         remedies(facts, {{"best-model", "--best-model keeps the best one"}});
}

/// Says that the model fits the training examples far better than others, and ever less these.
inline std::string overfits(const AdviceFacts& facts) {
  if (facts.dev.size() < 2 || std::isnan(facts.training_loss)) return {};
  const std::size_t lowest = lowest_loss(facts);
  const double loss = facts.dev.back().loss;
  if (!(facts.training_loss < 0.5 * loss && loss > 1.1 * facts.dev[lowest].loss)) return {};
  return "the model overfits: the loss on dev rose from " + loss_after(facts, lowest) + " to " +
         digits(loss) + ", and that of training fell to " + digits(facts.training_loss) +
         remedies(facts,
                  {{"epochs", "fewer --epochs"},
                   {"metric-for-best-model", "--best-model with --metric-for-best-model loss"}});
}

/// Says that words are cut into many tokens. A vocabulary of letters or bytes, such as that of a
/// model of proteins, is made for no language and has no words.
inline std::string many_tokens_a_word(const AdviceFacts& facts) {
  constexpr std::size_t most_characters = 512;
  if (std::isnan(facts.tokens_a_word) || facts.tokens_a_word < 3) return {};
  if (facts.vocabulary > 0 && facts.vocabulary <= most_characters) return {};
  return "a word of the training texts has " + digits(facts.tokens_a_word) +
         " tokens in the mean, so the model's vocabulary is hardly made for their language" +
         remedies(facts, {{"model",
                           "take a --model that was trained on it, such as "
                           "FacebookAI/xlm-roberta-base"}});
}

/// Says that most training texts are cut.
inline std::string most_are_cut(const AdviceFacts& facts) {
  if (facts.training_examples == 0 || 2 * facts.cut_examples <= facts.training_examples) return {};
  const double share =
      static_cast<double>(facts.cut_examples) / static_cast<double>(facts.training_examples);
  std::vector<Remedy> all;
  if (facts.max_length < facts.model_max_length) {
    all.push_back({"max-length", "a --max-length of up to " +
                                     std::to_string(facts.model_max_length) + " reads more"});
  }
  all.push_back({"long-texts", "--long-texts windows reads all of a text"});
  return digits(100 * share) + " % of the training texts reach the maximum of " +
         std::to_string(facts.max_length) + " tokens, and what is beyond it is not read" +
         remedies(facts, all);
}

/// Says that the figures of dev are the best of several.
inline std::string best_of_several(const AdviceFacts& facts) {
  if (facts.tuned_trials == 0) return {};
  const std::string remedy =
      facts.has_test ? "report those of the test file" : "a --test-file gives figures to report";
  return best_of_trials(facts.tuned_trials) + remedies(facts, {{"test-file", remedy}});
}

/// A rule with its name.
struct Rule {
  std::string_view name;
  std::string (*text)(const AdviceFacts&);
};

/// All rules, in the order in which their sentences are shown.
inline constexpr std::array rules{Rule{"one_training_label", one_training_label},
                                  Rule{"answers_one_label", answers_one_label},
                                  Rule{"answers_the_same_labels", answers_the_same_labels},
                                  Rule{"predicts_the_mean", predicts_the_mean},
                                  Rule{"overfits", overfits},
                                  Rule{"earlier_was_better", earlier_was_better},
                                  Rule{"still_falling", still_falling},
                                  Rule{"many_tokens_a_word", many_tokens_a_word},
                                  Rule{"most_are_cut", most_are_cut},
                                  Rule{"best_of_several", best_of_several}};

}  // namespace advice

/// Returns the advice that is true of a run. The console, the page and metrics.json show it.
[[nodiscard]] inline std::vector<Advice> advise(const AdviceFacts& facts) {
  std::vector<Advice> all;
  for (const auto& rule : advice::rules) {
    if (auto text = rule.text(facts); !text.empty()) {
      all.push_back({std::string{rule.name}, std::move(text)});
    }
  }
  return all;
}

/// Appends the advice to a JSON object as the member "advice", with the sentences by rule. Appends
/// nothing if there is none.
inline void append(json::Writer& out, const std::vector<Advice>& all) {
  if (all.empty()) return;
  out.key("advice").begin_object();
  for (const auto& [rule, text] : all) out.member(rule, std::string_view{text});
  out.end_object();
}

}  // namespace seqtrain::run
