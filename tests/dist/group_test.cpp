#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/group.hpp>

namespace seqtrain::dist {
namespace {

using Texts = std::vector<std::string>;

const GroupOptions quick{.timeout = std::chrono::seconds{20}};
/// Without NCCL the tensors of a device go through the host. Those of a processor are copied too.
const GroupOptions on_device{.timeout = std::chrono::seconds{20}, .device = c10::kCUDA};

/// Runs `body` on `size` connected ranks and expects no error.
void connected(int size, const std::function<void(Group&)>& body,
               const GroupOptions& options = quick) {
  const auto errors = tests::on_threads(tests::local_worlds(size), [&](const World& world) {
    auto group = Group::connect(world, options);
    body(group);
  });
  EXPECT_EQ(errors, Texts(errors.size()));
}

std::vector<float> values(const at::Tensor& tensor) {
  const auto* const data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

void speaks(Group& group) {
  const auto own = std::string(static_cast<std::size_t>(group.rank()) * 3, 'a');
  Texts expected;
  for (int rank = 0; rank < group.size(); ++rank) {
    expected.emplace_back(static_cast<std::size_t>(rank) * 3, 'a');
  }
  EXPECT_EQ(group.all_gather(own), expected);
  EXPECT_EQ(group.all_gather(""), Texts(static_cast<std::size_t>(group.size())));
  const auto text = "from " + std::to_string(group.rank());
  EXPECT_EQ(group.broadcast(text), "from 0");
  EXPECT_EQ(group.broadcast(std::string{}), "");
  std::vector<std::byte> large((std::size_t{40} << 20) + 1, std::byte(group.rank() + 7));
  group.broadcast(std::span{large});
  EXPECT_EQ(large, std::vector<std::byte>(large.size(), std::byte{7}));
  group.barrier();
}

TEST(Group, SendsMessages) {
  for (const int size : {1, 2, 3}) connected(size, &speaks);
}

/// Sends r + s elements of value 10 r + s from rank r to rank s, and nothing from a rank to itself.
void exchanges(Group& group) {
  std::vector<std::int64_t> out_sizes, in_sizes;
  std::vector<float> in, expected;
  const auto value = [](int from, int to) { return static_cast<float>(10 * from + to); };
  for (int other = 0; other < group.size(); ++other) {
    const int count = other == group.rank() ? 0 : other + group.rank();
    in_sizes.push_back(count);
    out_sizes.push_back(count);
    in.insert(in.end(), static_cast<std::size_t>(count), value(group.rank(), other));
    expected.insert(expected.end(), static_cast<std::size_t>(count), value(other, group.rank()));
  }
  const auto from = at::empty({static_cast<std::int64_t>(in.size())}, at::kFloat);
  std::copy(in.begin(), in.end(), from.mutable_data_ptr<float>());
  const auto to = at::empty({static_cast<std::int64_t>(expected.size())}, at::kFloat);
  group.all_to_all(to, from, out_sizes, in_sizes).wait();
  EXPECT_EQ(values(to), expected);
}

TEST(Group, ExchangesUnevenAndEmptyParts) {
  for (const int size : {1, 2, 3, 4}) connected(size, &exchanges);
}

TEST(Group, ExchangesTensorsOfADeviceThroughTheHostWithoutNccl) {
  connected(3, &exchanges, on_device);
  connected(
      3,
      [](Group& group) {
        EXPECT_TRUE(group.through_host());
        const auto own = at::full({2}, static_cast<double>(group.rank()), at::kFloat);
        const auto all = at::empty({3, 2}, at::kFloat);
        group.all_gather(all, own).wait();
        EXPECT_EQ(values(all), (std::vector<float>{0, 0, 1, 1, 2, 2}));
        group.all_reduce(own).wait();
        EXPECT_EQ(values(own), (std::vector<float>{3, 3}));
      },
      on_device);
  connected(2, [](Group& group) { EXPECT_FALSE(group.through_host()); });
}

TEST(Group, OneRankSendsEverything) {
  connected(3, [](Group& group) {
    const bool first = group.rank() == 0;
    const auto in = at::full({first ? 6 : 0}, 2.0, at::kFloat);
    const auto out = at::empty({2}, at::kFloat);
    const auto in_sizes = first ? std::vector<std::int64_t>{2, 2, 2} : std::vector<std::int64_t>(3);
    group.all_to_all(out, in, {2, 0, 0}, in_sizes).wait();
    EXPECT_EQ(values(out), (std::vector<float>{2, 2}));
    const auto nothing = at::empty({0}, at::kFloat);
    group.all_to_all(nothing, nothing, {0, 0, 0}, {0, 0, 0}).wait();
    group.all_gather(nothing, nothing).wait();
    group.all_reduce(nothing).wait();
  });
}

TEST(Group, RunsSeveralOperationsAtOnce) {
  connected(3, [](Group& group) {
    const auto rank = static_cast<float>(group.rank());
    const auto sum = at::full({1000}, rank, at::kFloat);
    const auto part = at::full({2, 2}, rank, at::kFloat);
    const auto all = at::empty({3, 2, 2}, at::kFloat);
    std::vector<Pending> pending;
    pending.push_back(group.all_reduce(sum));
    pending.push_back(group.all_gather(all, part));
    for (int i = 0; i < 4; ++i) pending.push_back(group.all_reduce(at::full({100}, 1.0)));
    for (auto& operation : pending) operation.wait();
    EXPECT_EQ(values(sum), std::vector<float>(1000, 3.0F));
    EXPECT_EQ(values(all), (std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
  });
}

TEST(SlowGroup, WaitsForASlowRankBeyondTheTimeoutOfJoining) {
  const auto errors = tests::on_threads(tests::local_worlds(2), [&](const World& world) {
    auto group = Group::connect(world, {.timeout = std::chrono::seconds{2}});
    if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds{5});
    const auto sum = at::full({3}, 1.0, at::kFloat);
    group.all_reduce(sum).wait();
    if (group.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds{4});
    const auto out = at::empty({6}, at::kFloat);
    group.all_gather(out, sum).wait();
    if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds{4});
    group.all_to_all(at::empty({6}), out, {3, 3}, {3, 3}).wait();
    if (group.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds{4});
    EXPECT_EQ(group.broadcast("a"), "a");
  });
  EXPECT_EQ(errors, Texts(2));
}

TEST(Group, RemembersAValueForAllStartsOfARun) {
  auto worlds = tests::local_worlds(3);
  ::c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(worlds[0].master_port);
  options.isServer = true;
  options.waitWorkers = false;
  const auto launcher = c10::make_intrusive<::c10d::TCPStore>("127.0.0.1", options);
  const auto start = [&](int restart, int size, const std::string& run, const std::string& value) {
    worlds.resize(static_cast<std::size_t>(size));
    for (auto& world : worlds) {
      world.size = size;
      world.agent_store = true;
      world.restart = restart;
      world.run_id = run;
    }
    std::vector<Remembered> found(worlds.size());
    const auto errors = tests::on_threads(worlds, [&](const World& world) {
      auto group = Group::connect(world, quick);
      found[static_cast<std::size_t>(world.rank)] =
          group.remember("name", [&] { return value + std::to_string(world.rank); });
    });
    EXPECT_EQ(errors, Texts(errors.size()));
    return found;
  };
  for (const auto& [value, was_there] : start(0, 3, "run", "a")) {
    EXPECT_EQ(value, "a0");
    EXPECT_FALSE(was_there);
  }
  // A change of the members does not change the number of restarts.
  for (const int restart : {0, 1}) {
    for (const int size : {2, 1}) {
      for (const auto& [value, was_there] : start(restart, size, "run", "b")) {
        EXPECT_EQ(value, "a0");
        EXPECT_TRUE(was_there);
      }
      if (size == 1) worlds = {worlds[0], worlds[0]};
      worlds.back().rank = static_cast<int>(worlds.size()) - 1;
    }
  }
  EXPECT_EQ(start(0, 1, "another run", "c")[0].value, "c0");
}

TEST(Group, RemembersNothingWithoutAStore) {
  auto group = Group::connect({});
  EXPECT_FALSE(group.remember("name", [] { return "a"; }).was_there);
  EXPECT_EQ(group.remember("name", [] { return "b"; }).value, "b");
}

TEST(Group, UsesTheInterfaceThatIsNamed) {
  const auto errors = tests::on_threads(tests::local_worlds(2), [&](const World& world) {
    auto group = Group::connect(world, {.interface = "lo", .timeout = std::chrono::seconds{20}});
    group.barrier();
  });
  EXPECT_EQ(errors, Texts(2));
}

TEST(Group, ChecksSizes) {
  auto group = Group::connect({});
  const auto tensor = at::zeros({3}, at::kFloat);
  EXPECT_THROW(static_cast<void>(group.all_to_all(tensor, tensor, {2}, {3})), Error);
  EXPECT_THROW(static_cast<void>(group.all_to_all(tensor, tensor, {3}, {1, 2})), Error);
  EXPECT_THROW(static_cast<void>(group.all_gather(at::zeros({4}), tensor)), Error);
}

}  // namespace
}  // namespace seqtrain::dist
