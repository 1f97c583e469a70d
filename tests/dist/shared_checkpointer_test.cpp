#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/shared_checkpointer.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::dist {
namespace {

/// A checkpointer with one saved fit. Its optimizer has a tensor `o`, and there is no best model.
struct FakeCheckpointer {
  std::vector<float> numbers{1, 2, 3};
  bool has_fit = true;
  bool refuses = false;
  int saves = 0;
  std::vector<weights::TensorView> views = {};

  std::optional<train::SavedFit> restore(const train::FitPlan&) {
    if (refuses) throw InputError{"belongs to another run"};
    if (!has_fit) return {};
    train::State state{.position = {.epoch = 1, .batch = 2, .step = 7}, .skipped_steps = 3};
    metrics::Confusion confusion(2, 2);
    confusion << 1, 2, 3, 4;
    state.dev.push_back(metrics::make_report(confusion, 0.1));
    return train::SavedFit{state,
                           [this](std::string_view owner) -> std::span<const weights::TensorView> {
                             if (owner == "best_model") throw InputError{"has none"};
                             views = {{.name = owner == "model" ? "m" : "o",
                                       .dtype = weights::DType::f32,
                                       .shape = {3},
                                       .bytes = std::as_bytes(std::span{numbers})}};
                             return views;
                           }};
  }
  void save(train::Moment, const train::FitView&) { ++saves; }
};

void expect_fit(const std::optional<train::SavedFit>& saved) {
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->state.position, (train::Position{.epoch = 1, .batch = 2, .step = 7}));
  EXPECT_EQ(saved->state.skipped_steps, 3);
  ASSERT_EQ(saved->state.dev.size(), 1U);
  EXPECT_EQ(saved->state.dev[0].loss, 0.1);
  EXPECT_EQ(saved->state.dev[0].confusion(1, 0), 3);
  const auto tensors = saved->tensors("optimizer");
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].name, "o");
  EXPECT_EQ(weights::to_floats(tensors[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(saved->tensors("model")[0].name, "m");
  EXPECT_THROW((void)saved->tensors("best_model"), InputError);
}

TEST(SharedCheckpointer, GivesEveryRankTheFitOfRank0) {
  FakeCheckpointer checkpointer;
  const auto errors = tests::on_threads(tests::local_worlds(3), [&](const World& world) {
    auto group = Group::connect(world);
    SharedCheckpointer shared{group, world.rank == 0 ? &checkpointer : nullptr};
    expect_fit(shared.restore({}));
    const train::State state;
    const std::function<void(const train::VisitTensors&)> tensors = [](const auto&) {};
    shared.save(train::Moment::step, {state, tensors});
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
  EXPECT_EQ(checkpointer.saves, 1);
}

TEST(SharedCheckpointer, TellsEveryRankThatThereIsNone) {
  FakeCheckpointer checkpointer{.has_fit = false};
  const auto errors = tests::on_threads(tests::local_worlds(2), [&](const World& world) {
    auto group = Group::connect(world);
    EXPECT_FALSE(
        (SharedCheckpointer{group, world.rank == 0 ? &checkpointer : nullptr}.restore({})));
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(SharedCheckpointer, EndsAllRanksIfRank0Refuses) {
  FakeCheckpointer checkpointer{.refuses = true};
  const auto errors = tests::on_threads(tests::local_worlds(2), [&](const World& world) {
    auto group = Group::connect(world);
    (void)SharedCheckpointer{group, world.rank == 0 ? &checkpointer : nullptr}.restore({});
  });
  EXPECT_EQ(errors, (std::vector<std::string>{"belongs to another run",
                                              "rank 0 refused to start: belongs to another run"}));
}

}  // namespace
}  // namespace seqtrain::dist
