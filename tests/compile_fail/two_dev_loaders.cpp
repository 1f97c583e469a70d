// error: fit takes one dev loader
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

int main() {
  const FakeLoader examples{{1, 2}, 1};
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, examples, FakeSink{}};
#ifdef MISTAKE
  trainer.fit({.epochs = 1}, FakeLoader{examples}, FakeLoader{examples});
#else
  trainer.fit({.epochs = 1}, FakeLoader{examples});
#endif
}
