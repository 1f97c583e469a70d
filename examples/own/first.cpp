// Fine-tunes a classifier of pairs of sentences.
#include <seqtrain/seqtrain.hpp>

using namespace seqtrain;

int main() {
  const auto tokenizer = text::load_tokenizer("checkpoints/all-MiniLM-L6-v2");
  const auto labels = data::Labels::nli();
  const auto read = [&](const char* file) {
    return data::encode_file(file, tokenizer, labels, {.encode = {.max_length = 128}}).set;
  };
  data::BucketLoader dev{read("examples/data/nli/dev.jsonl")};

  Trainer trainer{
      model::load_classifier("checkpoints/all-MiniLM-L6-v2", {.labels = labels.names()}),
      optim::Adam{{.lr = 5e-5}},
      data::BucketLoader{read("examples/data/nli/train.jsonl"), {.seed = 1234}}, sink::Discard{}};
  trainer.fit({.epochs = 2}, dev, report::Console{{.every = 50}});
  trainer.model().save_pretrained("runs/nli");
}
