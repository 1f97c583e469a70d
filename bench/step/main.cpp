// One training step and one evaluation step of made-up models, on batches like MultiNLI's.
//
//   step [--threads N]
//
// <pass>/<model>/<precision>/<batch size>, with examples and tokens a second, the operations in
// products that the result needs, and their share of what at::mm reaches here in that precision.
// compare.py puts the program `mnli` beside Hugging Face's Trainer.
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "batches.hpp"
#include "made_model.hpp"
#include "support/arguments.hpp"
#include "work.hpp"

namespace seqtrain::bench {
namespace {

using model::Precision;

const std::vector<Shape> shapes{{"minilm_6x384", 6, 384, 12, 1'536},
                                {"bert_base_12x768", 12, 768, 12, 3'072}};

/// A model with its weights' directory, the kernels' answers checked against autograd's.
struct Subject {
  Shape shape;
  Precision precision;
  MadeModel files{shape};
  model::AnyClassifier classifier = load(false, 0.1);
  optim::Adam optimizer{{.lr = 1e-5}};
  double peak = bench::peak(precision);

  [[nodiscard]] model::AnyClassifier load(bool autograd, double dropout) const {
    return model::load_classifier(files.path(),
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
      const auto& [name, value, gradient, touched, decays] = kernels.parameters()[i];
      if (name.ends_with("key.bias")) continue;  // no gradient but rounding
      const at::Tensor& expected = autograd.parameters()[i].gradient;
      const double difference = gradient.sub(expected).norm().item<double>();
      const double share = precision == Precision::bf16 ? 0.1 : 1e-3;
      demand(difference <= share * expected.norm().item<double>(), name);
    }
  }
};

/// The subject of that name; only the last one is kept.
Subject& subject(const Shape& shape, Precision precision, const data::Batch& batch) {
  static std::unique_ptr<Subject> last;
  if (!last || last->shape.name != shape.name || last->precision != precision) {
    last.reset();
    last.reset(new Subject{.shape = shape, .precision = precision});
    last->check(batch);
  }
  return *last;
}

const std::vector<data::Batch>& batches_of(std::int64_t batch_size) {
  static std::map<std::int64_t, std::vector<data::Batch>> made;
  auto& batches = made[batch_size];
  if (batches.empty()) batches = make_batches(static_cast<std::size_t>(batch_size));
  return batches;
}

/// Times use(subject, batch) over the batches of an epoch.
template <class Use>
void measure(benchmark::State& state, const Shape& shape, Precision precision, double passes,
             const Use& use) {
  const auto& batches = batches_of(state.range(0));
  Subject& tested = subject(shape, precision, batches.front());
  use(tested, batches.front());  // memory is there, kernels are made
  double examples = 0, tokens = 0, work = 0;
  std::size_t next = 0;
  for (auto _ : state) {
    const data::Batch& batch = batches[next++ % batches.size()];
    use(tested, batch);
    examples += static_cast<double>(batch.rows);
    tokens += static_cast<double>(batch.tokens());
    work += passes * operations(shape, batch);
  }
  const auto rate = benchmark::Counter::kIsRate;
  state.counters["examples/s"] = {examples, rate};
  state.counters["tokens/s"] = {tokens, rate};
  state.counters["FLOP/s"] = {work, rate};
  state.counters["of_peak_percent"] = {100 * work / tested.peak, rate};
}

void add(const Shape& shape, Precision precision, const std::string& name) {
  const auto train = [=](benchmark::State& state) {
    measure(state, shape, precision, 3, [](Subject& tested, const data::Batch& batch) {
      (void)tested.classifier.accumulate(batch, 1);
      tested.optimizer.step(tested.classifier.parameters(), {});
    });
  };
  const auto evaluate = [=](benchmark::State& state) {
    measure(state, shape, precision, 1, [](Subject& tested, const data::Batch& batch) {
      benchmark::DoNotOptimize(tested.classifier.logits(batch));
    });
  };
  const std::string where = "/" + shape.name + "/" + name;
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
    for (const bench::Shape& shape : bench::shapes) {
      bench::add(shape, model::Precision::fp32, "fp32");
      if (model::has_native_bf16()) {
        bench::add(shape, model::Precision::bf16, "bf16");
      }
    }
    benchmark::Initialize(&argc, argv);
    if (!benchmark::ReportUnrecognizedArguments(argc, argv)) benchmark::RunSpecifiedBenchmarks();
  });
}
