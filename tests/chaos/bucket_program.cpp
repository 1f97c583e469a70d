// Trains with a bucket as the only place that outlives the machine:
//
// bucket_program PLACE [STEPS]
//
// PLACE is an address such as `gs://bucket/path`. With STEPS the program kills itself after that
// many steps. Prints the step from which it resumes, and at the end the bits of the weight.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/trainer.hpp>

#include "support/fakes.hpp"

namespace {

using namespace seqtrain;

/// Takes some time for each step, as real steps do, so that checkpoints are written during
/// training.
struct Death {
  std::int64_t steps;
  log::Log log;

  void on(const train::Notice& event) { log.info(event.text); }
  void on(const train::StepEnd&) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    if (--steps == 0) ::raise(SIGKILL);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::span words{argv, static_cast<std::size_t>(argc)};
  return cli::run([&](log::Log& log) {
    if (words.size() < 2) throw InputError{"which place?", {.object = "bucket_program"}};
    Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01},
                    tests::FakeLoader{{1, -2, 0.5, 3, -1, 2}, 1},
                    storage::open_writable(words[1], {log})};
    trainer.fit({.epochs = 2, .checkpoint = {.every = 1}},
                Death{words.size() > 2 ? std::stoll(words[2]) : 0, log});
    std::printf("weight %a\n", trainer.model().weight());
  });
}
