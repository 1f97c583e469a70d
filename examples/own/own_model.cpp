// A model of your own: a torch::nn::Module that reads the ids of the checkpoint's tokenizer.
#include <memory>
#include <utility>

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <seqtrain/experiment.hpp>
#include <seqtrain/model/nn_module.hpp>
#include <seqtrain/text.hpp>

using namespace seqtrain;

struct BagOfWords : torch::nn::Module {
  BagOfWords(std::int64_t words_, std::int64_t labels)
      : words{register_module("words", torch::nn::Embedding(words_, 64))},
        out{register_module("out", torch::nn::Linear(64, labels))} {}

  at::Tensor forward(const tensor::Batch& batch) { return out(words(batch.input_ids).mean(1)); }

  torch::nn::Embedding words;
  torch::nn::Linear out;
};

int main(int argc, char** argv) {
  return experiment::run(argc, argv, {.name = "own_model"}, [](experiment::Run& run) {
    torch::manual_seed(static_cast<std::uint64_t>(run.flags().seed));  // equal in all processes
    auto module =
        std::make_shared<BagOfWords>(static_cast<std::int64_t>(run.tokenizer().vocab_size()),
                                     static_cast<std::int64_t>(run.labels().size()));
    auto model = run.replicate(model::NnModule{module, model::CrossEntropy{}, run.device()});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
