// Measures training steps of an AWD-LSTM on made-up words. The model is the language model or the
// classifier; the hand-written backend or torch's operators compute it.
//
// recurrent [--task language|classifier] [--backend kernels|torch] [--precision fp32|bf16]
// [--threads N] [--vocabulary N] [--batch N] [--bptt N] [--width N] [--steps N]
//
// Prints one JSON object: the seconds of the median step after the first one, and the process's
// peak memory in MiB. compare.py compares it with fastai.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "support/arguments.hpp"

namespace seqtrain::bench {
namespace {

struct Settings {
  std::int64_t vocabulary, batch, bptt, width, steps;
  model::RecurrentBackend backend;
};

std::int32_t word(const Settings& settings, std::uint64_t index) {
  const std::uint64_t hash = (index + 1) * 0x9e3779b97f4a7c15U >> 20U;
  return static_cast<std::int32_t>(2 + hash % static_cast<std::uint64_t>(settings.vocabulary - 2));
}

data::LanguageBatch language_batch(const Settings& settings, std::int64_t index) {
  data::LanguageBatch batch{.index = index, .rows = settings.batch, .width = settings.bptt};
  const auto cells = static_cast<std::uint64_t>(batch.rows * batch.width);
  for (std::uint64_t i = 0; i < cells; ++i) {
    const std::uint64_t place = static_cast<std::uint64_t>(index) * cells + i;
    batch.input_ids.push_back(word(settings, place));
    batch.labels.push_back(word(settings, place + 1));
  }
  return batch;
}

data::Batch classifier_batch(const Settings& settings, std::int64_t index) {
  data::Batch batch;
  batch.index = index;
  batch.rows = settings.batch;
  batch.width = settings.width;
  const auto cells = static_cast<std::uint64_t>(batch.rows * batch.width);
  for (std::uint64_t i = 0; i < cells; ++i) {
    batch.input_ids.push_back(word(settings, static_cast<std::uint64_t>(index) * cells + i));
  }
  batch.token_type_ids.resize(cells);
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    batch.lengths.push_back(static_cast<std::int32_t>(settings.width));
    batch.labels.push_back(row % 2);
    batch.row_ids.push_back(row);
  }
  return batch;
}

model::LanguageModel language_model(const Settings& settings) {
  return model::LanguageModel{settings.vocabulary, {.seed = 1, .backend = settings.backend}};
}

/// Compares the hand-written backend with torch's operators on a small batch without dropout.
void check(const Settings& settings) {
  const auto loss_of = [&](const model::RecurrentBackend& backend) {
    model::LanguageModel model{500, {.dropout = {0, 0, 0, 0, 0}, .seed = 1, .backend = backend}};
    Settings small = settings;
    small.vocabulary = 500;
    small.batch = 4;
    small.bptt = 10;
    optim::Adam optimizer{{.lr = 1e-3}};
    for (std::int64_t i = 0; i < 2; ++i) {
      (void)model.accumulate(language_batch(small, i), 1);
      (void)optimizer.step(model.parameters(), {});
    }
    return static_cast<double>(model.accumulate(language_batch(small, 0), 1));
  };
  const double difference = loss_of(settings.backend) - loss_of({.autograd = true});
  const bool rounded = settings.backend.precision == model::Precision::bf16;
  if (std::abs(difference) < (rounded ? 2e-2 : 1e-4)) return;
  throw std::runtime_error{"the losses differ by " + std::to_string(difference)};
}

template <class Model, class Batch>
std::vector<double> time_steps(Model model, const Settings& settings, const Batch& batch_of) {
  optim::Adam optimizer{{.lr = 1e-3}};
  std::vector<double> seconds;
  for (std::int64_t i = 0; i <= settings.steps; ++i) {
    const auto batch = batch_of(settings, i);
    const auto start = std::chrono::steady_clock::now();
    const double loss = static_cast<double>(model.accumulate(batch, 1));
    (void)optimizer.step(model.parameters(), {});
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (!std::isfinite(loss)) throw std::runtime_error{"the loss is not finite"};
    if (i > 0) seconds.push_back(time.count());
  }
  std::ranges::sort(seconds);
  return seconds;
}

}  // namespace
}  // namespace seqtrain::bench

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    const auto take = [&](const char* name, const std::string& otherwise) {
      return bench::take_argument(argc, argv, name, otherwise);
    };
    const auto cores = std::to_string(std::thread::hardware_concurrency());
    tensor::keep_freed_memory();  // as the program `languages` does
    tensor::set_threads(std::stoi(take("threads", cores)));
    const std::string task = take("task", "language");
    const bench::Settings settings{
        .vocabulary = std::stoll(take("vocabulary", "30000")),
        .batch = std::stoll(take("batch", "64")),
        .bptt = std::stoll(take("bptt", "70")),
        .width = std::stoll(take("width", "400")),
        .steps = std::stoll(take("steps", "4")),
        .backend = {.precision = model::precision_named(take("precision", "fp32")),
                    .autograd = take("backend", "kernels") == "torch"}};
    bench::check(settings);
    const auto seconds =
        task == "language"
            ? bench::time_steps(bench::language_model(settings), settings, bench::language_batch)
            : bench::time_steps(model::AwdLstmClassifier{settings.vocabulary,
                                                         {.labels = {"no", "yes"},
                                                          .bptt = settings.bptt,
                                                          .seed = 1,
                                                          .backend = settings.backend}},
                                settings, bench::classifier_batch);
    std::cout << R"({"seconds": )" << seconds[seconds.size() / 2] << R"(, "least": )"
              << seconds.front() << R"(, "mebibytes": )" << peak_memory_mib() << "}\n";
  });
}
