// error: the model needs both logits_of(batches), which takes a std::span<const batch_type>, and
// logits_window()
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Model : FakeModel {
  std::vector<seqtrain::metrics::Logits> logits_of(std::span<const FakeBatch>) { return {}; }
#ifndef MISTAKE
  std::int64_t logits_window() const {
    return 2;
  }
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
