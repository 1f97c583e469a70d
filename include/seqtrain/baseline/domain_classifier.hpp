#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/tfidf_builder.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/core/random.hpp>

namespace seqtrain::baseline {

/// A text or a pair of texts of one of two domains.
struct DomainText {
  std::string text = {};
  std::optional<std::string> pair = {};
  bool is_second = false;  ///< the domain
};

namespace detail {

/// Returns the fold in which a text is judged. Equal texts are in one fold, so that a classifier
/// does not know one that it judges.
[[nodiscard]] inline std::size_t fold_of(const DomainText& text, std::size_t folds) {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  const auto add = [&hash](std::string_view part) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    hash = random::scramble(hash);
  };
  add(text.text);
  if (text.pair) add(*text.pair);
  return hash % folds;
}

}  // namespace detail

/// How surely texts belong to the second of two domains.
struct DomainScores {
  std::vector<double> scores = {};  ///< a logit for each text, or empty
  std::string_view problem = {};    ///< why there are no scores; "" if there are some
};

/// Returns for each text how surely it belongs to the second domain, as a logit: that of a linear
/// model of TF-IDF weights (see `Learner`), which has been trained on the texts of the other folds.
/// The scores do not depend on the number of threads. There are none if a fold has no texts of a
/// domain to train on, or no words.
[[nodiscard]] inline DomainScores domain_scores(std::span<const DomainText> texts,
                                                std::size_t threads = 1, std::size_t folds = 5) {
  std::vector<double> scores(texts.size());
  std::vector<std::size_t> fold_of(texts.size());
  std::vector<std::size_t> in_fold[2];
  for (auto& each : in_fold) each.resize(folds);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    fold_of[i] = detail::fold_of(texts[i], folds);
    ++in_fold[texts[i].is_second ? 1 : 0][fold_of[i]];
  }
  for (const auto& counts : in_fold) {
    std::size_t all = 0;
    for (const std::size_t count : counts) all += count;
    if (std::ranges::any_of(counts, [&](std::size_t count) { return count == all; })) {
      return {.problem = "too few different texts to tell"};
    }
  }
  for (std::size_t fold = 0; fold < folds; ++fold) {
    Learner learner{{.name = "texts of two files", .threads = threads}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (fold_of[i] == fold) continue;
      std::optional<std::string_view> pair;
      if (texts[i].pair) pair = *texts[i].pair;
      learner.add(texts[i].text, pair, texts[i].is_second ? 1 : 0, {});
    }
    std::optional<Model> model;
    try {
      model.emplace(learner.learn());
    } catch (const NoTerms&) {
      return {.problem = "too few words to tell"};
    }
    run_parallel(threads, threads, [&](std::size_t strand) {
      auto scratch = model->scratch();
      float logits[2];
      for (std::size_t i = strand; i < texts.size(); i += threads) {
        if (fold_of[i] != fold) continue;
        std::optional<std::string_view> pair;
        if (texts[i].pair) pair = *texts[i].pair;
        model->answer(texts[i].text, pair, scratch, logits);
        scores[i] = double{logits[1]} - double{logits[0]};
      }
    });
  }
  return {.scores = std::move(scores)};
}

}  // namespace seqtrain::baseline
