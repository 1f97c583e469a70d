#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/experiment/few_shot.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/tensor_view.hpp>

#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"
#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::experiment::few_shot {
namespace {

using model::AnyClassifier;
using model::AnyPredictor;
using model::ClassifierOptions;
using model::load_classifier;
using model::LoRA;
using model::Precision;
using model::Text;
using tests::MadeCheckpoint;
using tests::problem_of;

at::Tensor tensor_of(const json::Value& rows) {
  std::vector<float> numbers;
  for (const auto& row : rows.items()) {
    for (const auto& number : row.items()) numbers.push_back(static_cast<float>(number.number()));
  }
  return at::tensor(numbers).view({std::ssize(rows.items()), -1});
}

/// The answers are those of tests/golden/few_shot.py.
TEST(PairLoss, IsSentenceTransformersWithItsGradient) {
  const auto document = json::Document::load(tests::golden() / "few_shot.json");
  const auto expected = document.root().at("pair_loss");
  std::vector<int> labels;
  for (const auto& label : expected.at("labels").items()) {
    labels.push_back(static_cast<int>(label.integer()));
  }
  const at::Tensor texts = tensor_of(expected.at("texts")).set_requires_grad(true);
  tensor::Batch batch;
  batch.labels = at::tensor(labels, at::kInt);
  const at::Tensor loss = model::AnyLoss{PairLoss{}}.mean(texts, batch);
  EXPECT_NEAR(loss.item<double>(), expected.at("loss").number(), 1e-6);
  loss.backward();
  const at::Tensor gap = (texts.grad() - tensor_of(expected.at("gradient"))).abs().max();
  EXPECT_LT(gap.item<double>(), 1e-6);
}

TEST(PairLoss, NeedsPairs) {
  tensor::Batch batch;
  batch.labels = at::tensor(std::vector<int>{0, 0, 1}, at::kInt);
  EXPECT_EQ(problem_of([&] {
              (void)PairLoss{}(at::ones({3, 2}), batch);
            }),
            "batch: rows: must be pairs");
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;

const std::vector<std::int32_t> six_labels{0, 1, 0, 2, 0, 1};

std::vector<Pair> pairs_of(const data::BatchPlan& plan) {
  std::vector<Pair> pairs;
  for (std::size_t batch = 0; batch < plan.size(); ++batch) {
    const auto rows = plan[batch];
    EXPECT_EQ(rows.size() % 2, 0U);
    for (std::size_t i = 0; i < rows.size(); i += 2) pairs.emplace_back(rows[i], rows[i + 1]);
  }
  return pairs;
}

TEST(PairPlan, HasAllPairsAndAsManyOfBothKinds) {
  const auto plan = make_pair_plan(six_labels, 4, 7, 0);
  std::map<Pair, int> equal, other;
  for (const Pair& pair : pairs_of(plan)) {
    EXPECT_LE(pair.first, pair.second);
    ++(six_labels[pair.first] == six_labels[pair.second] ? equal : other)[pair];
  }
  // 6 + 3 + 1 pairs of one label, a row with itself included, and 3·2 + 3·1 + 2·1 of two labels.
  EXPECT_EQ(equal.size(), 10U);
  EXPECT_EQ(other.size(), 11U);
  int count = 0;
  for (const auto& [pair, times] : equal) {
    EXPECT_TRUE(times == 1 || times == 2);
    count += times;
  }
  EXPECT_EQ(count, 11);
  for (const auto& [pair, times] : other) EXPECT_EQ(times, 1);
  EXPECT_EQ(plan.size(), 6U);  // of 22 pairs, 4 in a batch
  EXPECT_EQ(plan[0].size(), 8U);
}

/// Returns the numbers of different rows in the batches of a plan.
std::vector<std::size_t> distinct_rows(const data::BatchPlan& plan) {
  std::vector<std::size_t> counts;
  for (std::size_t batch = 0; batch < plan.size(); ++batch) {
    counts.push_back(std::set<std::uint32_t>{plan[batch].begin(), plan[batch].end()}.size());
  }
  return counts;
}

TEST(PairPlan, HasFewRowsInABatch) {
  std::vector<std::int32_t> labels;
  for (std::int32_t row = 0; row < 128; ++row) labels.push_back(row % 2);
  const auto plan = make_pair_plan(labels, 16, 7, 0);
  const auto counts = distinct_rows(plan);
  EXPECT_EQ(counts.size(), 520U);
  const auto sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  EXPECT_LE(sum / counts.size(), 14U);  // in a random order 28
  std::set<std::uint32_t> rows;
  for (std::size_t batch = 0; batch < 40; ++batch) {
    rows.insert(plan[batch].begin(), plan[batch].end());
  }
  EXPECT_EQ(rows.size(), 128U);  // all rows come up early
}

TEST(PairPlan, HasBothKindsOfPairsThroughoutIfOneIsRepeated) {
  std::vector<std::int32_t> labels;
  for (std::int32_t row = 0; row < 64; ++row) labels.push_back(row % 8);
  const auto pairs = pairs_of(make_pair_plan(labels, 16, 7, 0));
  ASSERT_EQ(pairs.size(), 2 * 28 * 64U);  // 288 pairs of one label, each about six times
  const std::size_t quarter = pairs.size() / 4;
  for (std::size_t part = 0; part < 4; ++part) {
    const auto first = pairs.begin() + static_cast<std::ptrdiff_t>(part * quarter);
    const auto equal =
        std::count_if(first, first + static_cast<std::ptrdiff_t>(quarter),
                      [&](Pair pair) { return labels[pair.first] == labels[pair.second]; });
    EXPECT_NEAR(static_cast<double>(equal) / static_cast<double>(quarter), 0.5, 0.1);
  }
}

TEST(PairPlan, DependsOnSeedAndEpochOnly) {
  const auto plan = [](std::uint64_t seed, std::uint64_t epoch) {
    return pairs_of(make_pair_plan(six_labels, 4, seed, epoch));
  };
  EXPECT_EQ(plan(7, 1), plan(7, 1));
  EXPECT_NE(plan(7, 1), plan(8, 1));
  EXPECT_NE(plan(7, 1), plan(7, 2));
}

TEST(PairPlan, HasOnlyPairsOfOneLabelIfThereIsOneLabel) {
  const std::vector<std::int32_t> same(3, 0);
  EXPECT_EQ(pairs_of(make_pair_plan(same, 4, 7, 0)).size(), 6U);
}

TEST(PairPlan, RefusesSoManyExamplesThatPairsCannotBeListed) {
  const std::vector<std::int32_t> many(3001, 0);
  EXPECT_EQ(problem_of([&] { (void)make_pair_plan(many, 4, 7, 0); }),
            "--few-shot: lists all pairs, and those of 3001 examples are too many; it takes at "
            "most 3000; with so many, train without it, or with a smaller "
            "--fraction-of-train-data");
}

TEST(PairPlan, IsTheOrderOfALoaderOfPairs) {
  data::EncodedSet set{100, 0};
  for (const std::int32_t label : six_labels) {
    set.push_back(std::vector<std::int32_t>{1, label + 10}, 2, label);
  }
  const auto options = pair_options(set, {.plan = {.batch_size = 4}, .seed = 7});
  data::BucketLoader loader{std::move(set), options};
  EXPECT_EQ(loader.batches_in(0), 6);
  const auto plan = make_pair_plan(six_labels, 4, 7, 0);
  std::size_t number = 0;
  for (const data::Batch& batch : loader.epoch(0)) {
    ASSERT_EQ(batch.rows, std::ssize(plan[number]));
    for (std::size_t row = 0; row < plan[number].size(); ++row) {
      EXPECT_EQ(batch.row_ids[row], plan[number][row]);
      EXPECT_EQ(batch.labels[row], six_labels[plan[number][row]]);
    }
    ++number;
  }
}

/// Returns rows of at most 24 ids.
data::Batch texts(std::int64_t index, std::int64_t rows) {
  const data::Batch whole = MadeCheckpoint::batch(index, rows);
  data::Batch batch = whole;
  batch.width = 24;
  batch.input_ids.clear();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = whole.input_ids.begin() + row * whole.width;
    batch.input_ids.insert(batch.input_ids.end(), first, first + batch.width);
    auto& length = batch.lengths[static_cast<std::size_t>(row)];
    length = std::min(length, 24);
  }
  batch.token_type_ids.assign(batch.input_ids.size(), 0);
  return batch;
}

/// Returns the rows of a batch with these numbers, in this order.
data::Batch picked(const data::Batch& batch, const std::vector<std::size_t>& rows) {
  data::Batch some = batch;
  some.rows = std::ssize(rows);
  some.input_ids.clear();
  some.lengths.clear();
  some.labels.clear();
  for (const std::size_t row : rows) {
    const auto first = batch.input_ids.begin() + static_cast<std::int64_t>(row) * batch.width;
    some.input_ids.insert(some.input_ids.end(), first, first + batch.width);
    some.lengths.push_back(batch.lengths[row]);
    some.labels.push_back(batch.labels[row]);
  }
  some.token_type_ids.assign(some.input_ids.size(), 0);
  return some;
}

TEST(DistinctTexts, HasEachTextOnceButThosePairedWithThemselvesTwice) {
  const data::Batch all = texts(1, 4);
  const data::Batch pairs = picked(all, {2, 0, 0, 1, 3, 3, 1, 2, 3, 3, 1, 3});
  const DistinctTexts distinct = distinct_texts(pairs);
  EXPECT_EQ(distinct.places, (std::vector<std::int64_t>{0, 1, 1, 2, 3, 4, 2, 0, 3, 4, 2, 3}));
  const data::Batch expected = picked(all, {2, 0, 1, 3, 3});
  EXPECT_EQ(distinct.texts.rows, 5);
  EXPECT_EQ(distinct.texts.width, pairs.width);
  EXPECT_EQ(distinct.texts.input_ids, expected.input_ids);
  EXPECT_EQ(distinct.texts.token_type_ids, expected.token_type_ids);
  EXPECT_EQ(distinct.texts.lengths, expected.lengths);
  EXPECT_EQ(distinct.texts.labels, expected.labels);
  EXPECT_EQ(distinct.texts.epoch, pairs.epoch);
  EXPECT_EQ(distinct.texts.index, pairs.index);
}

TEST(DistinctTexts, KeepsTextsApartThatDifferInTypesOrLabels) {
  data::Batch pairs = picked(texts(1, 4), {0, 0, 0, 0});
  pairs.labels = {0, 1, 0, 0};
  pairs.lengths.assign(4, 20);
  pairs.token_type_ids.back() = 1;  // of the padding
  pairs.token_type_ids[static_cast<std::size_t>(2 * pairs.width)] = 1;
  EXPECT_EQ(distinct_texts(pairs).places, (std::vector<std::int64_t>{0, 1, 2, 0}));
}

AnyClassifier few_shot_model(const std::filesystem::path& checkpoint,
                             ClassifierOptions options = {}) {
  options.few_shot = true;
  options.seed = 3;
  auto model = load_classifier(checkpoint, options);
  learn_from(model, {texts(5, 7), texts(6, 8)});
  return model;
}

data::Batch pairs(std::int64_t index) {
  return texts(index, 12);
}

void take_step(AnyClassifier& model, std::int64_t index, optim::Adam& adam) {
  (void)model.accumulate(pairs(index), 1);
  (void)adam.step(model.parameters(), {});
}

TEST(FewShotBackend, KernelsHaveTheGradientsOfOperators) {
  const tests::OneThread one_thread;
  for (const char* family : {"bert", "mpnet", "deberta-v2", "modernbert", "albert", "distilbert"}) {
    const MadeCheckpoint checkpoint{{.family = family}};
    auto kernels = few_shot_model(checkpoint.path(), {.dropout = 0});
    auto operators = few_shot_model(checkpoint.path(), {.dropout = 0, .autograd = true});
    EXPECT_TRUE(kernels.has_kernels()) << family;
    const auto loss = static_cast<double>(kernels.accumulate(pairs(1), 1));
    EXPECT_NEAR(loss, static_cast<double>(operators.accumulate(pairs(1), 1)), 1e-5) << family;
    double gap = 0, size = 0;
    for (std::size_t i = 0; i < kernels.parameters().size(); ++i) {
      const auto& gradient = kernels.parameters()[i].gradient;
      if (!gradient.defined()) continue;
      const auto& other = operators.parameters()[i].gradient;
      gap += (gradient - other).pow(2).sum().item<double>();
      size += other.pow(2).sum().item<double>();
    }
    EXPECT_GT(size, 0);
    EXPECT_LT(std::sqrt(gap / size), 1e-3) << family;
  }
}

TEST(FewShotBackend, HaveTheGradientsOfABatchWithRepeatedTexts) {
  const tests::OneThread one_thread;
  const data::Batch batch = picked(texts(1, 4), {0, 1, 0, 2, 1, 2, 3, 3, 0, 3, 2, 1});
  const MadeCheckpoint checkpoint;
  auto model = few_shot_model(checkpoint.path(), {.dropout = 0});
  auto plain = load_classifier(checkpoint.path(), {.dropout = 0, .few_shot = true, .seed = 3});
  plain.set_loss(PairLoss{});
  plain.wrap_backend([](auto backend, model::Network& network, auto) {
    network.sentence_head()->ends_at_embeddings = true;
    return backend;
  });
  const auto loss = static_cast<double>(model.accumulate(batch, 1));
  EXPECT_NEAR(loss, static_cast<double>(plain.accumulate(batch, 1)), 1e-6);
  for (std::size_t i = 0; i + 2 < model.parameters().size(); ++i) {
    const auto& expected = plain.parameters()[i].gradient;
    const double gap = (model.parameters()[i].gradient - expected).norm().item<double>();
    EXPECT_LE(gap, 1e-5 * expected.norm().item<double>() + 1e-7) << model.parameters()[i].name;
  }
}

TEST(FewShotBackend, LearnsFromATextPairedWithItselfByDropoutAlone) {
  const tests::OneThread one_thread;
  const data::Batch batch = picked(texts(1, 4), {0, 0, 1, 1});
  const MadeCheckpoint checkpoint;
  auto fixed = few_shot_model(checkpoint.path(), {.dropout = 0});
  EXPECT_NEAR(static_cast<double>(fixed.accumulate(batch, 1)), 0, 1e-9);
  auto model = few_shot_model(checkpoint.path(), {.dropout = 0.1});
  EXPECT_GT(static_cast<double>(model.accumulate(batch, 1)), 1e-6);
}

TEST(FewShotBackend, FitsTheHeadAnewIfTheEncoderHasChanged) {
  const tests::OneThread one_thread;
  const MadeCheckpoint checkpoint;
  auto model = few_shot_model(checkpoint.path());
  const auto head = [&] { return model.parameters().back().value.clone(); };
  const data::Batch some = texts(2, 13);
  const auto first = model.logits(some);
  const at::Tensor begun = head();
  EXPECT_EQ(model.logits(some), first);
  optim::Adam adam{{.lr = 1e-3}};
  take_step(model, 1, adam);
  EXPECT_TRUE(head().equal(begun));  // steps leave it alone
  const auto second = model.logits(some);
  EXPECT_NE(second, first);
  EXPECT_FALSE(head().equal(begun));
}

TEST(FewShotBackend, GoesOnFromASavedStateWithTheSameBits) {
  const tests::OneThread one_thread;
  const MadeCheckpoint checkpoint;
  auto model = few_shot_model(checkpoint.path()), resumed = few_shot_model(checkpoint.path());
  optim::Adam adam{{.lr = 1e-3}}, other{{.lr = 1e-3}};
  const data::Batch some = texts(2, 13);
  take_step(model, 1, adam);
  (void)resumed.logits(some);
  resumed.load_state_dict(model.state_dict().views());
  other.load_state(adam.state().views(), resumed.parameters());
  EXPECT_EQ(resumed.logits(some), model.logits(some));
  take_step(model, 2, adam);
  take_step(resumed, 2, other);
  EXPECT_EQ(resumed.logits(some), model.logits(some));
}

/// Writes classifiers that tests/golden/few_shot.py --check reads with sentence-transformers if
/// SEQTRAIN_SENTENCES names a directory.
TEST(FewShotBackend, SavesAClassifierThatThePredictorReads) {
  const auto base = tests::golden() / "sentence";
  const auto answers = json::Document::load(base / "expected.json");
  std::vector<std::string> lines;
  for (const auto& text : answers.root().at("texts").items()) lines.emplace_back(text.string());
  for (const auto& [name, form] : {std::pair<std::string, weights::SentenceForm>{"mean", {}},
                                   {"normalized", {.normalizes = true}},
                                   {"first_token", {.mean_pooling = false, .normalizes = true}}}) {
    const tests::TemporaryDirectory own, made;
    std::filesystem::copy(base, made.path(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    const std::vector<float> none(99);
    const std::vector<weights::TensorView> map{
        {"linear.weight", weights::DType::f32, {3, 32}, std::as_bytes(std::span{none}.first(96))},
        {"linear.bias", weights::DType::f32, {3}, std::as_bytes(std::span{none}.last(3))}};
    for (const char* folder : {"1_Pooling", "2_Normalize", "3_Dense"}) {
      std::filesystem::remove_all(made.path() / folder);
    }
    weights::write_sentence_form(made.path(), form, map);
    auto model = few_shot_model(made.path());
    optim::Adam adam{{.lr = 1e-3}};
    take_step(model, 1, adam);
    (void)model.logits(pairs(1));
    const char* const outside = std::getenv("SEQTRAIN_SENTENCES");
    const auto directory = (outside ? std::filesystem::path{outside} : own.path()) / name;
    model.save_pretrained(directory);
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
      std::filesystem::copy_file(base / file, directory / file,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    const AnyPredictor predictor{directory};
    EXPECT_EQ(predictor.labels(), (std::vector<std::string>{"bad", "good", "so so"}));
    std::vector<predict::Encoded> encoded;
    for (const auto& text : lines) encoded.push_back(predictor.encode(text));
    const auto logits = predictor.predict(encoded);
    const auto known = model.logits(predict::to_batch(encoded, 0));
    EXPECT_LT((logits - known).cwiseAbs().maxCoeff(), 1e-5) << name;
    json::Writer out;
    out.begin_object().member("texts", lines).key("logits").begin_array();
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      out.value(std::vector<float>(logits.row(row).begin(), logits.row(row).end()));
    }
    tests::write_file(directory / "answers.json", out.end_array().end_object().text());
  }
}

TEST(FewShotBackend, PredictsAsSentenceTransformersDoes) {
  const auto folder = tests::golden() / "sentence";
  const auto expected = json::Document::load(folder / "expected.json");
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const AnyPredictor predictor{folder, {.precision = precision}};
    const auto rows = expected.root().at("logits").items();
    for (std::size_t i = 0; const auto& text : expected.root().at("texts").items()) {
      const auto answer = predictor(std::vector<Text>{{text.string()}}).front();
      for (std::size_t label = 0; const auto& logit : rows[i].items()) {
        EXPECT_NEAR(answer.logits[label++], logit.number(),
                    precision == Precision::fp32 ? 1e-5 : 1e-2);
      }
      ++i;
    }
  }
}

TEST(FewShotBackend, IsAnOrdinaryClassifierForASecondRun) {
  const tests::OneThread one_thread;
  const auto folder = tests::golden() / "sentence";
  auto model = load_classifier(folder);
  EXPECT_TRUE(model.load_report().fresh.empty());
  (void)model.accumulate(texts(1, 3), 1);
  EXPECT_EQ(model.parameters().back().name, "linear.bias");
  EXPECT_GT(model.parameters().back().gradient.abs().max().item<double>(), 0);
}

TEST(FewShotBackend, RefusesWhatDoesNotGoWithIt) {
  const MadeCheckpoint checkpoint;
  const std::string problem = "few_shot: needs an encoder that learns and reads no windows";
  for (const ClassifierOptions& options :
       {ClassifierOptions{.freeze_encoder = true, .few_shot = true},
        ClassifierOptions{.lora = LoRA{}, .few_shot = true},
        ClassifierOptions{.few_shot = true, .windows = text::Windows{.length = 12}},
        ClassifierOptions{.few_shot = true, .only_predicts = true}}) {
    const auto told = problem_of([&] { (void)load_classifier(checkpoint.path(), options); });
    EXPECT_TRUE(told.starts_with(problem)) << told;
  }
  EXPECT_NE(problem_of([&] {
              (void)load_classifier(tests::golden() / "sentence", {.lora = LoRA{}});
            }).find("a classifier of --few-shot has no adapters"),
            std::string::npos);
}

cli::TrainFlags parsed(std::vector<const char*> arguments) {
  cli::TrainFlags flags;
  cli::Flags parser{"program", "does something"};
  arguments.insert(arguments.begin(), {"program", "--few-shot"});
  EXPECT_TRUE(flags.parse(parser, static_cast<int>(arguments.size()), arguments.data()));
  take_flags(flags, parser);
  return flags;
}

TEST(FewShotFlags, HaveSetFitsDefaults) {
  const auto few = parsed({"--learning-rate=3e-5"});
  EXPECT_EQ(few.learning_rate, 3e-5);
  EXPECT_EQ(few.epochs, 1);
  EXPECT_EQ(few.optim, cli::Optimizer::adamw);
  EXPECT_EQ(few.weight_decay, 0.01);
  EXPECT_EQ(few.lr_scheduler_type, optim::Schedule::Type::linear);
  EXPECT_EQ(few.warmup_ratio, 0.1);
  EXPECT_EQ(few.max_grad_norm, 1);
  EXPECT_EQ(parsed({}).learning_rate, 2e-5);
  EXPECT_EQ(parsed({"--warmup-steps=2"}).warmup_ratio, 0);
  EXPECT_EQ(parsed({"--lr-scheduler-type=one_cycle"}).warmup_ratio, 0);
}

}  // namespace
}  // namespace seqtrain::experiment::few_shot
