// error: the sink has list(key) but is no Store: see docs/concepts/store.md for what it lacks
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class Memory : public seqtrain::sink::Memory {
#ifdef MISTAKE
 private:
  using seqtrain::sink::Memory::get;
#endif
};

auto trainer = seqtrain::Trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, Memory{}};
