// Measures one training step and one evaluation step of made-up models, on batches like MultiNLI's.
//
// step [--threads N] [--model DIR] [--length TOKENS]
//
// --length gives all rows this number of tokens.
// --model measures a checkpoint of any family instead, e.g. one that made_families.py has written.
// Cases are named <pass>/<model>/<precision>/<batch size>. Each reports examples and tokens a
// second, the operations in the products that the result needs, and their rate relative to that of
// at::mm in the same precision and to that of the registers alone, the processor's limit.
// compare.py compares the program `mnli` with Hugging Face's Trainer.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "batches.hpp"
#include "made_model.hpp"
#include "peak.hpp"
#include "registers.hpp"
#include "shape.hpp"
#include "support/arguments.hpp"

namespace seqtrain::bench {
namespace {

using model::Precision;

const std::vector<Shape> made_shapes{
    {.name = "minilm_6x384", .layers = 6, .hidden = 384, .heads = 12, .inner = 1'536},
    {.name = "bert_base_12x768", .layers = 12, .hidden = 768, .heads = 12, .inner = 3'072}};

/// The families' names of the keys' biases, which have a true gradient of zero: attention does not
/// change if all keys move equally.
constexpr std::array key_biases{"key.bias", "k_lin.bias", "attn.k.bias"};

/// A model to measure. Its weights are made up if it has no directory.
struct Measured {
  Shape shape;
  std::filesystem::path directory = {};
  std::uint32_t length = 0;  ///< of all rows; 0 for rows like MultiNLI's
};

/// A model with its weights. `check` compares the kernels' results with autograd's.
struct Subject {
  Measured measured;
  Precision precision;
  std::optional<MadeModel> made =
      measured.directory.empty() ? std::make_optional<MadeModel>(measured.shape) : std::nullopt;
  model::AnyClassifier classifier = load(false, 0.1);
  optim::Adam optimizer{{.lr = 1e-5}};
  double peak = bench::peak(precision);
  double registers = bench::register_rate(precision);

  [[nodiscard]] model::AnyClassifier load(bool autograd, double dropout) const {
    return model::load_classifier(made ? made->path() : measured.directory,
                                  {.dropout = dropout,
                                   .seed = 1,
                                   .precision = autograd ? Precision::fp32 : precision,
                                   .autograd = autograd});
  }

  void check(const data::Batch& batch) const {
    auto kernels = load(false, 0);
    auto autograd = load(true, 0);
    const auto demand = [](bool good, const std::string& what) {
      if (!good) throw std::runtime_error{"the kernels' " + what + " is not autograd's"};
    };
    const double gap = static_cast<double>(kernels.accumulate(batch, 1)) -
                       static_cast<double>(autograd.accumulate(batch, 1));
    demand(std::abs(gap) < (precision == Precision::bf16 ? 1e-2 : 1e-4), "loss");
    for (std::size_t i = 0; i < kernels.parameters().size(); ++i) {
      const auto& parameter = kernels.parameters()[i];
      const auto is_of_keys = [&](const char* end) { return parameter.name.ends_with(end); };
      if (std::ranges::any_of(key_biases, is_of_keys)) continue;
      const at::Tensor& expected = autograd.parameters()[i].gradient;
      const double difference = parameter.gradient.sub(expected).norm().item<double>();
      const double share = precision == Precision::bf16 ? 0.1 : 1e-3;
      demand(difference <= share * expected.norm().item<double>(), parameter.name);
    }
  }
};

/// Returns the subject of this model and precision. Only the last one is kept.
Subject& subject(const Measured& measured, Precision precision, const data::Batch& batch) {
  static std::unique_ptr<Subject> last;
  if (!last || last->measured.shape.name != measured.shape.name || last->precision != precision) {
    last.reset();
    last.reset(new Subject{.measured = measured, .precision = precision});
    last->check(batch);
  }
  return *last;
}

const std::vector<data::Batch>& batches_of(std::int64_t batch_size, const Measured& measured) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::vector<data::Batch>> made;
  auto& batches = made[{batch_size, measured.shape.vocab_size}];
  if (batches.empty()) {
    batches = make_batches(static_cast<std::size_t>(batch_size), measured.shape, measured.length);
  }
  return batches;
}

/// Times use(subject, batch) over the batches of an epoch.
template <class Use>
void measure(benchmark::State& state, const Measured& measured, Precision precision, double passes,
             const Use& use) {
  const auto& batches = batches_of(state.range(0), measured);
  Subject& tested = subject(measured, precision, batches.front());
  use(tested, batches.front());  // allocates memory and makes kernels
  double examples = 0, tokens = 0, work = 0;
  std::size_t next = 0;
  for (auto _ : state) {
    const data::Batch& batch = batches[next++ % batches.size()];
    use(tested, batch);
    examples += static_cast<double>(batch.rows);
    tokens += static_cast<double>(batch.tokens());
    work += passes * operations(measured.shape, batch);
  }
  const auto rate = benchmark::Counter::kIsRate;
  state.counters["examples/s"] = {examples, rate};
  state.counters["tokens/s"] = {tokens, rate};
  state.counters["FLOP/s"] = {work, rate};
  state.counters["of_peak_percent"] = {100 * work / tested.peak, rate};
  state.counters["of_registers_percent"] = {100 * work / tested.registers, rate};
  state.counters["registers_FLOP/s"] = tested.registers;
}

void add(const Measured& measured, Precision precision, const std::string& name) {
  const auto train = [=](benchmark::State& state) {
    measure(state, measured, precision, 3, [](Subject& tested, const data::Batch& batch) {
      (void)tested.classifier.accumulate(batch, 1);
      tested.optimizer.step(tested.classifier.parameters(), {});
    });
  };
  const auto evaluate = [=](benchmark::State& state) {
    measure(state, measured, precision, 1, [](Subject& tested, const data::Batch& batch) {
      benchmark::DoNotOptimize(tested.classifier.logits(batch));
    });
  };
  const std::string where = "/" + measured.shape.name + "/" + name;
  for (const std::int64_t batch_size : {16, 32}) {
    benchmark::RegisterBenchmark(("train" + where).c_str(), train)
        ->Arg(batch_size)
        ->Unit(benchmark::kMillisecond)
        ->MinTime(4)
        ->UseRealTime();
    benchmark::RegisterBenchmark(("evaluate" + where).c_str(), evaluate)
        ->Arg(batch_size)
        ->Unit(benchmark::kMillisecond)
        ->MinTime(2)
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace seqtrain::bench

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    const auto cores = std::to_string(std::thread::hardware_concurrency());
    tensor::set_threads(std::stoi(bench::take_argument(argc, argv, "threads", cores)));
    const std::filesystem::path directory = bench::take_argument(argc, argv, "model", "");
    const auto length =
        static_cast<std::uint32_t>(std::stoul(bench::take_argument(argc, argv, "length", "0")));
    std::vector<bench::Measured> models;
    if (directory.empty()) {
      for (const bench::Shape& shape : bench::made_shapes) models.push_back({shape, {}, length});
    } else {
      models.push_back({bench::shape_of(directory), directory, length});
    }
    for (const bench::Measured& measured : models) {
      bench::add(measured, model::Precision::fp32, "fp32");
      if (model::has_native_bf16()) bench::add(measured, model::Precision::bf16, "bf16");
    }
    benchmark::Initialize(&argc, argv);
    if (!benchmark::ReportUnrecognizedArguments(argc, argv)) benchmark::RunSpecifiedBenchmarks();
  });
}
