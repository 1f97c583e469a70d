/// Writes runs for read_events.py, below the directory that is its argument:
///   run/     killed after step 120 of 200 and resumed from step 100; the test set at the end
///   objects/ that run, put as objects that do not grow
///   hostile/ names that are no UTF-8 or hold markup
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/report/tensorboard.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/events.hpp>

namespace {

namespace fs = std::filesystem;
namespace report = seqtrain::report;
namespace sink = seqtrain::sink;
namespace train = seqtrain::train;

using MakeLog = std::function<std::unique_ptr<report::TensorBoard>(std::int64_t every)>;

constexpr std::int64_t steps = 200;

/// A store that `sink::Any` does not see as a `sink::Directory`, so its objects do not grow.
class Bucket : public sink::Directory {
 public:
  using sink::Directory::Directory;
};

/// Takes steps with losses that tell the step and the process.
void take_steps(report::TensorBoard& log, std::int64_t first, std::int64_t last, double offset) {
  for (std::int64_t step = first; step <= last; ++step) {
    const std::function<double()> loss = [=] { return 1.0 / static_cast<double>(step) + offset; };
    const std::function<double()> norm = [&] { return 2.0 * static_cast<double>(step); };
    log.on(train::StepEnd{.step = step,
                          .steps = steps,
                          .epoch = 1,
                          .batch = step,
                          .batches = steps,
                          .examples = 16,
                          .tokens = 512,
                          .learning_rate = 1e-5 * static_cast<double>(step),
                          .loss = loss,
                          .gradient_norm = norm});
  }
}

seqtrain::metrics::ClassificationReport some_report() {
  seqtrain::metrics::Confusion confusion(2, 2);
  confusion << 3, 1, 2, 4;
  auto report = seqtrain::metrics::make_report(confusion, 0.75);
  report.figures = {{"matthews", 0.5}};
  return report;
}

void write_run(const MakeLog& make_log) {
  const auto report = some_report();
  {
    const auto killed = make_log(10);
    killed->on(train::FitBegin{1, steps, 3200});
    take_steps(*killed, 1, 120, 10);
  }
  const auto log = make_log(10);
  log->on(train::FitBegin{1, steps, 3200, {.epoch = 0, .batch = 100, .step = 100}});
  take_steps(*log, 101, steps, 0);
  log->on(train::EvalEnd{"dev", 1, steps, 1.5, report});
  log->on(train::FitEnd{steps, 12});
  log->on(train::EvalEnd{"test", 1, steps, 1.5, report});
}

void write_hostile(const fs::path& directory) {
  const std::string nul{"nul\0byte", 8};
  report::TensorBoard log{directory,
                          {.flags = {{"quotes", "'\"\\"},
                                     {"pipe", "a|b||c"},
                                     {"lines", "one\ntwo\r\nthree"},
                                     {"invalid", "\xff\xfe\xc3"},
                                     {"html", "<script>alert(1)</script> &amp;"},
                                     {"markdown", "`code` *x* __init__ [a](b)"},
                                     {nul, nul},
                                     {"a|b\xff\n", "odd name"}},
                           .labels = {"no|\n\"thing\"", "\xc3\x28/\xff"}}};
  log.on(train::FitBegin{1, steps, 3200});
  take_steps(log, 1, 1, 0);
  log.on(train::EvalEnd{"dev", 1, 1, 1.5, some_report()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_events DIRECTORY\n";
    return 2;
  }
  const fs::path root = argv[1];
  const auto options = [](std::int64_t every) {
    return report::TensorBoardOptions{
        .every = every,
        .flags = {{"learning-rate", "3e-05"}, {"model", "some/model"}, {"hp-tune", "true"}},
        .labels = {"no", "yes"},
        .machine = [] {
          return std::vector<seqtrain::metrics::Figure>{{"cpu_percent", 87.5}};
        }};
  };
  write_run([&](std::int64_t every) {
    return std::make_unique<report::TensorBoard>(root / "run", options(every));
  });
  write_run([&](std::int64_t every) {
    auto rotating = options(every);
    rotating.put_seconds = 0;
    return std::make_unique<report::TensorBoard>(sink::Any{Bucket{root / "objects"}}, rotating);
  });
  write_hostile(root / "hostile");
}
