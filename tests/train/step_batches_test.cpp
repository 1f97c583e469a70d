#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/step_batches.hpp>

#include "support/fakes.hpp"

namespace seqtrain::train {
namespace {

/// Returns the sizes of the steps of batches `done` to `of`.
std::vector<std::size_t> steps(std::int64_t size, std::int64_t done, std::int64_t of) {
  StepBatches<int> window{size, done, of};
  std::vector<std::size_t> sizes;
  for (int batch = static_cast<int>(done); batch < of; ++batch) {
    if (!window.add(batch)) continue;
    sizes.push_back(window.batches().size());
    EXPECT_EQ(window.batches().back(), batch);
  }
  return sizes;
}

TEST(StepBatches, GathersTheBatchesOfAStep) {
  EXPECT_EQ(steps(1, 0, 3), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(steps(2, 0, 5), (std::vector<std::size_t>{2, 2, 1}));
  EXPECT_EQ(steps(2, 2, 5), (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(steps(9, 0, 5), (std::vector<std::size_t>{5}));
}

/// A loader that can begin inside an epoch and notes that it did.
struct Skipping : tests::FakeLoader {
  using FakeLoader::epoch;
  using FakeLoader::FakeLoader;
  std::vector<tests::FakeBatch> epoch(std::int64_t number, std::int64_t first) {
    asked = first;
    auto all = epoch(number);
    all.erase(all.begin(), all.begin() + first);
    return all;
  }
  std::int64_t asked = -1;
};

TEST(ForEachBatch, BeginsAndEndsInsideAnEpoch) {
  const std::vector<double> x{1, 2, 3, 4, 5};
  const auto seen = [](auto& loader) {
    std::vector<double> values;
    for_each_batch(loader, 0, 2, [&](const tests::FakeBatch& batch) {
      values.push_back(batch.x[0]);
      return values.size() < 2;
    });
    return values;
  };
  tests::FakeLoader plain{x, 1};
  Skipping skipping{x, 1};
  EXPECT_EQ(seen(plain), (std::vector<double>{3, 4}));
  EXPECT_EQ(seen(skipping), (std::vector<double>{3, 4}));
  EXPECT_EQ(skipping.asked, 2);
}

/// Notes what is asked for.
struct NotedState {
  std::string name;
  std::vector<std::string>* notes;

  [[nodiscard]] const std::string& views() const {
    notes->push_back("views of " + name);
    return name;
  }
};

TEST(VisitStates, AsksForAllCopiesBeforeItSettles) {
  std::vector<std::string> notes;
  struct Both {
    std::vector<std::string>* notes;
    NotedState state_dict() { return take("model"); }
    NotedState state() { return take("optimizer"); }
    NotedState take(const std::string& name) {
      notes->push_back("copies of " + name);
      return {name, notes};
    }
  } both{&notes};
  const auto visit = [&](const std::string& owner, const std::string& views) {
    EXPECT_EQ(owner, views);
    notes.push_back("visit " + owner);
  };
  visit_states(both, both, visit, [&] { notes.push_back("settle"); });
  EXPECT_EQ(notes, (std::vector<std::string>{"copies of model", "copies of optimizer",
                                             "views of model", "settle", "visit model",
                                             "views of optimizer", "visit optimizer"}));
}

}  // namespace
}  // namespace seqtrain::train
