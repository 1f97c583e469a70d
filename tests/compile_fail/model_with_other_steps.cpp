// error: the model's accumulate_step(batches) must take a std::span<const batch_type> and return
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Loss {
  double value() const { return 0; }
};

struct Model : FakeModel {
#ifdef MISTAKE
  Loss accumulate_step(const std::vector<int>&) {
    return {};
  }
#else
  Loss accumulate_step(std::span<const FakeBatch>) {
    return {};
  }
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
