// error: the dev loader lacks a batch_type, epoch(number), batches_in(epoch) or examples()
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class DevLoader : public FakeLoader {
 public:
  using FakeLoader::FakeLoader;
#ifdef MISTAKE

 private:
  using FakeLoader::batch_type;
#endif
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, DevLoader{{1, 2}, 1});
}
