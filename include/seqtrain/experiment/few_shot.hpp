#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <Eigen/Core>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/plan.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/logistic_regression.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/operators.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::experiment {

/// The parts of `--few-shot` (Tunstall et al. 2022, SetFit).
namespace few_shot {

/// The loss of pairs of texts: sentence-transformers' `CosineSimilarityLoss`. Rows 2 i and 2 i + 1
/// of a batch are a pair, and the loss of both is the squared difference of the cosine of their
/// embeddings and 1 if they have one label, else 0.
struct PairLoss {
  at::Tensor operator()(const at::Tensor& embeddings, const tensor::Batch& batch) const {
    Demand{"batch"}(embeddings.size(0) % 2 == 0, "rows", "must be pairs");
    const at::Tensor texts = embeddings.view({-1, 2, embeddings.size(1)});
    const at::Tensor labels = batch.labels.view({-1, 2});
    const at::Tensor same = labels.select(1, 0).eq(labels.select(1, 1));
    const at::Tensor cosine = at::cosine_similarity(texts.select(1, 0), texts.select(1, 1), 1);
    return (cosine - same.to(cosine.scalar_type())).square().repeat_interleave(2);
  }
};

/// The texts of a batch of pairs without repetitions.
struct DistinctTexts {
  data::Batch texts;
  std::vector<std::int64_t> places;  ///< for each row of the pairs, its row in `texts`
};

/// Returns the texts of a batch of pairs, each once. A text that is paired with itself is there
/// twice, so that dropout makes two embeddings of it: the loss of two equal ones is 0.
[[nodiscard]] inline DistinctTexts distinct_texts(const data::Batch& pairs) {
  DistinctTexts found;
  data::Batch& texts = found.texts;
  texts.epoch = pairs.epoch;
  texts.index = pairs.index;
  texts.width = pairs.width;
  std::map<std::vector<std::int32_t>, std::int64_t> rows;  // by label, ids and their types
  std::vector<std::int32_t> last;
  for (std::int64_t row = 0; row < pairs.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const auto length = pairs.lengths[at];
    const auto* const ids = pairs.input_ids.data() + row * pairs.width;
    const auto* const types = pairs.token_type_ids.data() + row * pairs.width;
    std::vector<std::int32_t> key{static_cast<std::int32_t>(pairs.labels[at])};
    key.insert(key.end(), ids, ids + length);
    key.insert(key.end(), types, types + length);
    if (row % 2 == 1 && key == last) key.push_back(1);  // paired with itself
    const auto [place, is_new] = rows.emplace(key, texts.rows);
    last = std::move(key);
    found.places.push_back(place->second);
    if (!is_new) continue;
    ++texts.rows;
    texts.input_ids.insert(texts.input_ids.end(), ids, ids + pairs.width);
    texts.token_type_ids.insert(texts.token_type_ids.end(), types, types + pairs.width);
    texts.lengths.push_back(length);
    texts.labels.push_back(pairs.labels[at]);
  }
  return found;
}

/// Throws `InputError` if pairs of this many examples are too many to list.
inline void demand_few(std::size_t examples) {
  constexpr std::size_t most = 3000;
  if (examples <= most) return;
  throw InputError{"lists all pairs, and those of " + std::to_string(examples) +
                       " examples are too many; it takes at most " + std::to_string(most),
                   {.object = "--few-shot"},
                   "with so many, train without it, or with a smaller --fraction-of-train-data"};
}

/// Throws `InputError` if the examples of the training file are too many for `--few-shot`. They are
/// counted before any is encoded.
inline void demand_few(const cli::TrainFlags& flags, const data::Labels& labels) {
  if (!flags.few_shot) return;
  double count = 0;
  data::visit_examples(flags.train_file, flags.read_options(data::Split::train), labels,
                       [&](const auto&, const auto&) { ++count; });
  count -= std::nearbyint(flags.dev_fraction * count);
  demand_few(static_cast<std::size_t>(std::nearbyint(flags.fraction_of_train_data * count)));
}

/// Returns the batches of an epoch of pairs of rows with these labels, by the rule "oversampling"
/// of setfit: all pairs with one label, also of a row with itself, and all pairs with two labels;
/// the kind with fewer pairs is repeated until there are as many of both. Rows 2 i and 2 i + 1 of a
/// batch are a pair, and `batch_size` counts pairs. Throws `InputError` if the pairs are too
/// many to list.
///
/// A batch has few different rows, because each of them is computed once. Random groups have as
/// many rows as the square root of `batch_size`, and the pairs of two groups follow each other. 16
/// pairs of 128 rows with two labels thus have about 13 rows, and 28 in a random order. Every group
/// comes up once before one comes up again. If the pairs of one kind are repeated, there are as
/// many rounds, each with groups of its own and a part of the other kind.
[[nodiscard]] inline data::BatchPlan make_pair_plan(std::span<const std::int32_t> labels,
                                                    std::size_t batch_size, std::uint64_t seed,
                                                    std::uint64_t epoch) {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  demand_few(labels.size());
  random::Stream stream{seed, random::Purpose::order, epoch, std::uint64_t{0}};
  std::vector<Pair> kinds[2];  // with two labels and with one
  for (std::uint32_t a = 0; a < labels.size(); ++a) {
    for (std::uint32_t b = a; b < labels.size(); ++b) {
      kinds[labels[a] == labels[b] ? 1 : 0].emplace_back(a, b);
    }
  }
  const auto [fewer, most] = std::minmax({kinds[0].size(), kinds[1].size()});
  const std::size_t rounds = fewer == 0 ? 1 : (most + fewer / 2) / fewer;
  const auto groups = static_cast<std::uint32_t>(std::max(
      1.0,
      std::ceil(static_cast<double>(labels.size()) / std::sqrt(static_cast<double>(batch_size)))));
  std::vector<std::vector<std::uint32_t>> group_of(rounds);  // of a row, in each round
  for (auto& group : group_of) {
    for (std::uint32_t row = 0; row < labels.size(); ++row) group.push_back(row % groups);
    random::shuffle(group, stream);
  }
  std::vector<std::pair<std::array<std::uint32_t, 3>, Pair>> pairs;  // with their places
  for (auto& kind : kinds) {
    random::shuffle(kind, stream);
    for (std::size_t i = 0; i < most && !kind.empty(); ++i) {
      const std::size_t index = i % kind.size();
      const auto round = static_cast<std::uint32_t>((index + i / kind.size()) % rounds);
      const auto [a, b] = kind[index];
      const auto [x, y] = std::minmax({group_of[round][a], group_of[round][b]});
      pairs.push_back({{round, (x + y) % groups, x}, {a, b}});  // one sum has each group once
    }
  }
  random::shuffle(pairs, stream);
  std::ranges::stable_sort(pairs, {}, &decltype(pairs)::value_type::first);
  std::vector<std::uint32_t> rows;
  for (const auto& [place, pair] : pairs) rows.insert(rows.end(), {pair.first, pair.second});
  return data::plan_in_order(std::move(rows), 2 * batch_size);
}

/// Trains a sentence encoder on few examples (Tunstall et al. 2022, SetFit). `accumulate` takes
/// pairs of examples, whose embeddings learn by `PairLoss`. The head is a logistic regression on
/// the embeddings of the examples, which `logits` fits anew if the encoder has changed.
class FewShotBackend : public model::Backend {
 public:
  /// `head` and `parameters` are those of the network that `backend` computes.
  FewShotBackend(std::unique_ptr<model::Backend> backend, model::SentenceHead& head,
                 std::span<const tensor::Parameter> parameters, std::vector<data::Batch> examples)
      : backend_{std::move(backend)},
        head_{&head},
        parameters_{parameters},
        examples_{std::move(examples)} {}

  at::Tensor accumulate(const model::StepInputs& step) override {
    const DistinctTexts distinct = distinct_texts(step.batch);
    const model::LossOfLogits loss = [&](const at::Tensor& embeddings, const tensor::Batch&) {
      const at::Tensor rows = at::tensor(distinct.places, at::kLong).to(embeddings.device());
      return loss_.mean(embeddings.index_select(0, rows),
                        tensor::labels_on(step.batch, embeddings.device()));
    };
    fitted_at_ = -1;
    head_->ends_at_embeddings = true;
    return backend_->accumulate(
        {distinct.texts, step.weight, step.stream, loss, step.ready, step.loss_scale});
  }

  at::Tensor logits(const data::Batch& batch) override {
    if (fitted_at_ != changes()) fit();
    return backend_->logits(batch);
  }

  at::Tensor hidden(const data::Batch& batch) override { return backend_->hidden(batch); }

 private:
  /// Returns the number of counted changes of the parameters. An optimizer may leave its own
  /// uncounted.
  [[nodiscard]] std::int64_t changes() const {
    std::int64_t sum = 0;
    for (const auto& parameter : parameters_) sum += tensor::changes_of(parameter.value);
    return sum;
  }

  void fit() {
    std::vector<at::Tensor> parts;
    std::vector<std::int64_t> labels;
    head_->ends_at_embeddings = true;
    for (const data::Batch& batch : examples_) {
      parts.push_back(backend_->logits(batch));
      labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
    }
    head_->ends_at_embeddings = false;
    const at::Tensor all = at::cat(parts).to(at::kCPU, at::kDouble).contiguous();
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Rows> features{all.const_data_ptr<double>(), all.size(0), all.size(1)};
    const at::Tensor weight = parameters_[parameters_.size() - 2].value;  // of the head
    const at::Tensor bias = parameters_.back().value;
    Rows map = logistic_regression(features, labels, weight.size(0)).transpose();
    const at::Tensor found = at::from_blob(map.data(), {map.rows(), map.cols()}, at::kDouble);
    const at::NoGradGuard no_gradients;
    weight.copy_(found.narrow(1, 0, all.size(1)));
    bias.copy_(found.select(1, all.size(1)));
    fitted_at_ = changes();
  }

  std::unique_ptr<model::Backend> backend_;
  model::SentenceHead* head_;
  std::span<const tensor::Parameter> parameters_;
  std::vector<data::Batch> examples_;
  model::AnyLoss loss_ = PairLoss{};
  std::int64_t fitted_at_ = -1;  // the changes when the head was fitted
};

/// Makes a model that was loaded with `ClassifierOptions::few_shot` learn from pairs of examples.
inline void learn_from(model::AnyClassifier& model, std::vector<data::Batch> examples) {
  model.wrap_backend([&](auto backend, model::Network& network, auto parameters) {
    return std::make_unique<FewShotBackend>(std::move(backend), *network.sentence_head(),
                                            parameters, std::move(examples));
  });
}

/// Returns all rows of a set in batches.
[[nodiscard]] inline std::vector<data::Batch> batches_of(const data::EncodedSet& set) {
  data::BucketLoader loader{data::EncodedSet{set},
                            {.plan = {.batch_size = 64, .order = data::Order::file}, .workers = 0}};
  std::vector<data::Batch> batches;
  for (const data::Batch& batch : loader.epoch(0)) batches.push_back(batch);
  return batches;
}

/// Checks the flags of a run with `--few-shot`, and gives those that are not given setfit's
/// defaults. Throws `InputError` that names the flag if one does not fit.
inline void take_flags(cli::TrainFlags& flags, cli::Flags& given) {
  if (!flags.few_shot) return;
  const auto prefer = [&](const char* name, auto& value, auto usual) {
    if (!given.is_given(name)) value = usual;
    given.count_as_changed(name);
  };
  prefer("epochs", flags.epochs, 1);
  prefer("learning-rate", flags.learning_rate, 2e-5);
  prefer("optim", flags.optim, cli::Optimizer::adamw);
  prefer("weight-decay", flags.weight_decay, 0.01);
  prefer("lr-scheduler-type", flags.lr_scheduler_type, optim::Schedule::Type::linear);
  const bool rises = flags.lr_scheduler_type == optim::Schedule::Type::one_cycle;
  if (!given.is_given("warmup-steps") && !rises) prefer("warmup-ratio", flags.warmup_ratio, 0.1);
  prefer("max-grad-norm", flags.max_grad_norm, 1);
  const auto refuse = [](bool there, const char* name, const char* problem) {
    cli::require(!there, "few-shot", std::string{"does not go with --"} + name + problem);
  };
  refuse(flags.freeze_encoder, "freeze-encoder", ": the whole encoder learns");
  refuse(given.is_given("head-learning-rate"), "head-learning-rate", ": the head takes no steps");
  refuse(flags.lora_rank > 0, "lora-rank", ": the whole encoder learns");
  refuse(!flags.teacher.empty(), "teacher", ": the loss is that of pairs");
  refuse(given.is_given("order"), "order", ": pairs have an order of their own");
  refuse(given.is_given("bucket-pool"), "bucket-pool", ": pairs have an order of their own");
  refuse(flags.soft_labels, "soft-labels", ": a text has one label");
  refuse(flags.loss != cli::LossChoice::by_problem, "loss", ": the loss is that of pairs");
  refuse(!flags.class_weights.empty(), "class-weights", ": the loss is that of pairs");
  refuse(flags.label_smoothing_factor > 0, "label-smoothing-factor", ": the loss is that of pairs");
  refuse(flags.tokens_per_batch > 0, "tokens-per-batch", ": a batch has --batch-size pairs");
  refuse(flags.long_texts == text::LongTexts::windows, "long-texts", " windows");
}

/// Returns the options of a loader of pairs of a set's rows.
[[nodiscard]] inline data::LoaderOptions pair_options(const data::EncodedSet& set,
                                                      data::LoaderOptions options) {
  const auto all = set.arrays().labels;
  const std::vector<std::int32_t> labels{all.begin(), all.end()};
  options.plan_of = [labels, size = options.plan.batch_size, seed = options.seed](auto epoch) {
    return make_pair_plan(labels, size, seed, static_cast<std::uint64_t>(epoch));
  };
  return options;
}

}  // namespace few_shot

}  // namespace seqtrain::experiment
