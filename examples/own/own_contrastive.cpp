// own_contrastive MODEL PAIRS DIR: trains a sentence encoder on the pairs that are entailments. A
// batch's other pairs are negatives (sentence-transformers' MultipleNegativesRankingLoss).
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/seqtrain.hpp>
#include <seqtrain/tensor/operators.hpp>
#include <seqtrain/text/loading/save_tokenizer.hpp>

using namespace seqtrain;

/// Rows 2 i and 2 i + 1 are a pair, and share its loss.
struct InBatchNegatives {
  at::Tensor operator()(const at::Tensor& states, const tensor::Batch&) const {
    const at::Tensor unit = states / at::linalg_vector_norm(states, 2, 1, true).clamp_min(1e-12);
    const at::Tensor scores = 20 * unit.slice(0, 0, {}, 2).matmul(unit.slice(0, 1, {}, 2).t());
    const at::Tensor own = at::arange(scores.size(0), scores.options().dtype(at::kLong));
    return at::cross_entropy_loss(scores, own, {}, at::Reduction::None).repeat_interleave(2);
  }
};

data::EncodedSet read_pairs(const char* file, const predict::TextEncoder& tokenizer) {
  data::EncodedSet texts{tokenizer.vocab_size(), tokenizer.pad_id()};
  data::visit_examples(file, {}, data::Labels::nli(), [&](const auto&, const auto& example) {
    if (example.label != "entailment") return;
    for (const auto text : {example.text, example.text_pair.value()}) {
      const auto encoded = tokenizer(text, {}, 128);
      texts.push_back(encoded.input_ids, encoded.first_segment, 0);
    }
  });
  return texts;
}

int main(int, char** argv) {
  const auto tokenizer = text::load_tokenizer(argv[1]);
  auto pairs = read_pairs(argv[2], predict::TextEncoder{tokenizer});
  const auto plan = [count = pairs.size() / 2](std::int64_t epoch) {
    std::vector<std::uint32_t> order(count), rows;
    std::iota(order.begin(), order.end(), 0U);
    random::Stream stream{1234, random::Purpose::order, static_cast<std::uint64_t>(epoch)};
    random::shuffle(order, stream);
    for (const auto pair : order) rows.insert(rows.end(), {2 * pair, 2 * pair + 1});
    return data::plan_in_order(std::move(rows), 64);
  };
  auto model = model::load_classifier(argv[1], {.head = model::no_head()});
  model.set_loss(InBatchNegatives{});
  Trainer trainer{std::move(model), optim::Adam{{.lr = 1e-4}},
                  data::BucketLoader{std::move(pairs), {.plan_of = plan}}, sink::Discard{}};
  trainer.fit({.epochs = 4}, report::Console{{.every = 10}});
  trainer.model().save_pretrained(argv[3]);
  text::save_tokenizer(tokenizer, argv[3]);
  return 0;
}
