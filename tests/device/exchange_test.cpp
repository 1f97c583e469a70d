#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/exchange.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/store.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/tensor/parameter.hpp>

#include "support/dist_worlds.hpp"
#include "support/fake_device.hpp"
#include "support/made_parameters.hpp"
#include "support/on_device.hpp"

namespace seqtrain::dist {
namespace {

using tests::fake_device;
using tests::MadeParameters;

const c10::impl::DeviceGuardImplInterface& device() {
  return *c10::impl::getDeviceGuardImpl(fake_device.type());
}

c10::Event recorded(const c10::Stream& stream) {
  c10::Event event{fake_device.type()};
  event.record(stream);
  return event;
}

/// Whether operations never end, as NCCL's if a rank is lost.
bool operations_hang = false;

/// How many operations rank 0 has started.
std::atomic<int> operations_of_first = 0;

/// Operations on a stream of their own, as NCCL's are: the host goes on, and `wait` blocks the
/// current stream.
class StreamConnection : public ::c10d::Backend {
 public:
  StreamConnection(const StorePtr& store, int rank, int size) : Backend{rank, size} {
    using Gloo = ::c10d::ProcessGroupGloo;
    const auto options = Gloo::Options::create(std::chrono::seconds{20});
    options->devices.push_back(Gloo::createDeviceForHostname("127.0.0.1"));
    host_ = c10::make_intrusive<Gloo>(store, rank, size, options);
  }

  c10::intrusive_ptr<::c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                             const ::c10d::AllreduceOptions& options) override {
    return exchange(tensors[0], tensors[0], [&](at::Tensor to, const at::Tensor& from) {
      std::vector<at::Tensor> sums{to.copy_(from)};
      return host_->allreduce(sums, options);
    });
  }
  c10::intrusive_ptr<::c10d::Work> _allgather_base(
      at::Tensor& out, at::Tensor& in, const ::c10d::AllgatherOptions& options) override {
    return exchange(out, in, [&](at::Tensor to, at::Tensor from) {
      return host_->_allgather_base(to, from, options);
    });
  }
  c10::intrusive_ptr<::c10d::Work> alltoall_base(at::Tensor& out, at::Tensor& in,
                                                 std::vector<std::int64_t>& out_sizes,
                                                 std::vector<std::int64_t>& in_sizes,
                                                 const ::c10d::AllToAllOptions& options) override {
    return exchange(out, in, [&](at::Tensor to, at::Tensor from) {
      return host_->alltoall_base(to, from, out_sizes, in_sizes, options);
    });
  }

 private:
  struct Queued : ::c10d::Work {
    explicit Queued(c10::Event event) : end{std::move(event)} {}
    bool isCompleted() override { return !operations_hang && end.query(); }
    bool wait(std::chrono::milliseconds) override {
      end.block(device().getStream(fake_device));
      return true;
    }
    c10::Event end;
  };

  template <class Run>
  c10::intrusive_ptr<::c10d::Work> exchange(const at::Tensor& out, const at::Tensor& in,
                                            const Run& run) {
    if (getRank() == 0) ++operations_of_first;
    recorded(device().getStream(fake_device)).block(stream_);
    const c10::StreamGuard guard{stream_};
    const auto pinned = out.options().device(at::kCPU).pinned_memory(true);
    const at::Tensor result = at::empty(out.sizes(), pinned);
    if (!operations_hang) run(result, in.cpu())->wait(std::chrono::seconds{20});
    out.copy_(result, /*non_blocking=*/true);
    return c10::make_intrusive<Queued>(recorded(stream_));
  }

  c10::intrusive_ptr<::c10d::Backend> host_;
  c10::Stream stream_ = device().getStreamFromGlobalPool(fake_device);
};

/// Returns the options of a group whose tensors go through the host, or of one that is connected by
/// streams.
GroupOptions options_of(bool by_streams) {
  GroupOptions options{.timeout = std::chrono::seconds{20}, .device = fake_device};
  if (!by_streams) return options;
  options.connect_device = [](const StorePtr& store, const World& world) -> BackendPtr {
    return c10::make_intrusive<StreamConnection>(store, world.rank, world.size);
  };
  return options;
}

/// Runs `body` on ranks that have a stream each, as processes have. Returns their errors.
std::vector<std::string> on_ranks(int ranks, bool by_streams,
                                  const std::function<void(Group&)>& body) {
  return tests::on_threads(tests::local_worlds(ranks), [&](const World& world) {
    const c10::StreamGuard own{device().getStreamFromGlobalPool(fake_device)};
    auto group = Group::connect(world, options_of(by_streams));
    body(group);
  });
}

/// Exchanges two steps of `parts` parts; the second one reuses memory of the first. Returns the
/// gradients and the losses of each rank, and expects that no rank's thread waits for the device.
std::vector<std::string> exchanged(int ranks, std::int64_t replicas, std::int64_t parts,
                                   bool by_streams, Reduction reduction = Reduction::exact) {
  std::vector<std::string> results(static_cast<std::size_t>(ranks));
  const auto errors = on_ranks(ranks, by_streams, [&](Group& group) {
    Exchange exchange{group, replicas, reduction};
    MadeParameters parameters{fake_device};
    at::Tensor losses;
    for (int step = 0; step < 2; ++step) {
      for (const auto& parameter : parameters.all) {
        if (parameter.gradient.defined()) parameter.gradient.zero_();
      }
      tensor::forget_touched(parameters.all[0]);
      losses = at::zeros({parts}, fake_device);
      std::vector<GradientCopy> before;
      const auto subtrees = largest_subtrees({0, parts}, leaves_of(group.rank(), ranks, replicas));
      for (const Leaves& subtree : subtrees) {
        if (subtree != subtrees.front()) before.emplace_back().take(parameters.all);
        parameters.add_tree(subtree);
        for (std::int64_t i = subtree.first; i < subtree.last; ++i) {
          losses.select(0, i).fill_(static_cast<float>(i) + 0.5F);
        }
      }
      const auto waits = tests::waits_of_this_thread();
      exchange.begin({parameters.all, before, losses}, parts);
      for (const std::size_t first : {3, 2}) exchange.ready(first);
      EXPECT_FALSE(exchange.finish(false));
      for (const auto& parameter : parameters.all) {
        if (parameter.gradient.defined()) parameter.gradient.mul(2);
      }
      EXPECT_EQ(tests::waits_of_this_thread(), waits);
    }
    const at::Tensor host = losses.cpu();
    for (std::int64_t i = 0; i < parts; ++i) {
      EXPECT_EQ(host[i].item<float>(), static_cast<float>(i) + 0.5F);
    }
    results[static_cast<std::size_t>(group.rank())] = parameters.bytes();
  });
  EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
  return results;
}

TEST(ExchangeOnDevice, GivesEveryRankTheBitsOfAProcessor) {
  struct Case {
    int ranks;
    std::int64_t replicas, parts;
  };
  for (const auto& [ranks, replicas, parts] :
       {Case{2, 2, 2}, Case{2, 5, 5}, Case{3, 4, 4}, Case{3, 7, 2}, Case{2, 8, 1}}) {
    MadeParameters alone;
    alone.add_tree({0, parts});
    for (const bool by_streams : {false, true}) {
      for (const std::string& bytes : exchanged(ranks, replicas, parts, by_streams)) {
        EXPECT_TRUE(bytes == alone.bytes())
            << ranks << " " << replicas << " " << parts << " " << by_streams;
      }
    }
  }
}

TEST(ExchangeOnDevice, RanksHaveEqualBitsByRing) {
  for (const bool by_streams : {false, true}) {
    const auto results = exchanged(3, 4, 4, by_streams, Reduction::ring);
    EXPECT_TRUE(results[0] == results[1] && results[1] == results[2]);
  }
}

TEST(ExchangeOnDevice, SendsBucketsBeforeAllGradientsAreThere) {
  for (const bool by_streams : {false, true}) {
    tests::reset_device_counts();
    const auto errors = on_ranks(2, by_streams, [&](Group& group) {
      Exchange exchange{group, 2, Reduction::exact};
      MadeParameters parameters{fake_device};
      parameters.add_leaf(group.rank());
      parameters.add("late", {5});
      parameters.all.back().late = true;
      exchange.begin({parameters.all, {}, at::zeros({2}, fake_device)}, 2);
      exchange.ready(2);
      const auto deadline = Clock::now() + std::chrono::seconds{20};
      // Both ranks have sent both buckets of what is ready, and nothing waits for the others.
      while (tests::device_counts().copies_from < 4 && Clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      }
      EXPECT_GE(tests::device_counts().copies_from, 4);
      parameters.all[0].gradient.add_(1);  // the backward pass goes on
      parameters.all.back().gradient.add_(1);
      static_cast<void>(exchange.finish(false));
      EXPECT_EQ(parameters.all.back().gradient.sum().item<float>(), 10);
    });
    EXPECT_EQ(errors, std::vector<std::string>(2));
  }
}

TEST(ExchangeOnDevice, SendsOnlyTouchedRowsOfTables) {
  tests::reset_device_counts();
  const auto errors = on_ranks(2, false, [&](Group& group) {
    Exchange exchange{group, 2, Reduction::exact};
    MadeParameters parameters{fake_device};
    parameters.add_leaf(group.rank());
    exchange.begin({parameters.all, {}, at::zeros({2}, fake_device)}, 2);
    static_cast<void>(exchange.finish(false));
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
  const std::int64_t dense = 1025 * 1030 + 7, touched = 5 * MadeParameters::width;
  const std::int64_t most =
      2 * (dense + touched + 2 + 6) * static_cast<std::int64_t>(sizeof(float));
  EXPECT_LE(tests::device_counts().bytes_from, most);
}

TEST(ExchangeOnDevice, TakesFewOperationsForManyRows) {
  tests::reset_device_counts();
  const auto errors = on_ranks(2, true, [&](Group& group) {
    Exchange exchange{group, 2, Reduction::exact};
    MadeParameters parameters{fake_device};
    for (std::size_t row = 0; row < MadeParameters::table_rows; row += 2) {
      parameters.all[0].touched->insert(row);
    }
    exchange.begin({parameters.all, {}, at::zeros({2}, fake_device)}, 2);
    static_cast<void>(exchange.finish(false));
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
  EXPECT_LT(tests::device_counts().operators, 200);
}

/// Runs a step of two ranks that rank 1 abandons. Parameters of `more` full buckets come last.
/// Returns the errors of the ranks.
std::vector<std::string> errors_of_abandoned_step(bool by_streams, int more = 0) {
  return on_ranks(2, by_streams, [&](Group& group) {
    Exchange exchange{group, 2, Reduction::exact};
    MadeParameters parameters{fake_device};
    parameters.add_leaf(group.rank());
    for (int i = 0; i < more; ++i) parameters.add("more", {1 << 20});
    exchange.begin({parameters.all, {}, at::zeros({2}, fake_device)}, 2);
    exchange.ready(2);
    if (group.rank() == 1) {
      exchange.abandon("out of memory");
      throw Error{"rank 1 ends"};
    }
    static_cast<void>(exchange.finish(false));
  });
}

TEST(ExchangeOnDevice, QueuesFewOperationsThatDoNotEnd) {
  operations_hang = true;
  operations_of_first = 0;
  const auto errors = errors_of_abandoned_step(true, 12);
  operations_hang = false;
  EXPECT_NE(errors[0].find("out of memory"), std::string::npos) << errors[0];
  EXPECT_LE(operations_of_first, 20);  // of 28
}

TEST(ExchangeOnDevice, EndsWithTheErrorOfARankThatAbandonsTheStep) {
  for (const bool by_streams : {false, true}) {
    operations_hang = by_streams;
    const auto errors = errors_of_abandoned_step(by_streams);
    EXPECT_NE(errors[0].find("rank 1 of 2"), std::string::npos) << errors[0];
    EXPECT_NE(errors[0].find("out of memory"), std::string::npos) << errors[0];
    EXPECT_EQ(errors[1], "rank 1 ends");
  }
  operations_hang = false;
  static_cast<void>(tests::on_device(at::zeros({1})).add(1));  // would tell of an early free
}

}  // namespace
}  // namespace seqtrain::dist
