#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <unistd.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/address.hpp>
#include <seqtrain/dist/group_options.hpp>
#include <seqtrain/dist/heartbeat.hpp>
#include <seqtrain/dist/link.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/store.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {

/// Blocks SIGPIPE on this thread as long as the object lives. A thread that this one starts
/// meanwhile never receives the signal. Gloo writes to sockets with writev(), which raises SIGPIPE
/// if the other rank has closed the connection: the process would end without an error. Python
/// ignores SIGPIPE, a C++ program does not.
class BlockedSigpipe {
 public:
  BlockedSigpipe() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = pending();
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  BlockedSigpipe(const BlockedSigpipe&) = delete;
  BlockedSigpipe& operator=(const BlockedSigpipe&) = delete;

  ~BlockedSigpipe() {
    // A signal that has come meanwhile would be delivered now.
    constexpr timespec no_time{};
    if (!was_pending_ && pending()) ::sigtimedwait(&sigpipe_, nullptr, &no_time);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static bool pending() {
    sigset_t signals;
    ::sigpending(&signals);
    return ::sigismember(&signals, SIGPIPE) == 1;
  }

  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

namespace detail {

/// Returns the prefix of the keys that all starts of a run share in the store.
inline std::string run_prefix(const World& world) {
  return "seqtrain/" + world.run_id;
}

inline StorePtr prefixed(const std::string& prefix, const StorePtr& store) {
  return c10::make_intrusive<::c10d::PrefixStore>(prefix, store);
}

/// Connects GPUs by NCCL. Returns null if the library libseqtrain_nccl.so cannot be loaded, which
/// is a part of its own because it needs CUDA. It stays loaded.
inline BackendPtr make_nccl(const StorePtr& store, const World& world) {
  using Make = ::c10d::Backend*(const StorePtr&, int, int, std::chrono::milliseconds);
  void* const library = ::dlopen("libseqtrain_nccl.so", RTLD_NOW);
  if (library == nullptr) return {};
  auto* const make = reinterpret_cast<Make*>(::dlsym(library, "seqtrain_make_nccl"));
  return BackendPtr::reclaim(make(store, world.rank, world.size, endless));
}

/// The connections of a process to the other processes of its world.
class GroupConnection {
 public:
  GroupConnection(const World& world, const GroupOptions& options)
      : world_{world}, deadline_{Clock::now() + options.timeout} {
    const BlockedSigpipe for_all_threads_of_the_connection;
    const auto store = open_store(world, deadline_);
    run_store_ = prefixed(run_prefix(world), store);
    // `world.restart` does not name the start: torchrun counts the restarts of each host
    // separately.
    const auto round = Rendezvous{world, run_store_, deadline_}.join();
    const auto prefix = run_prefix(world) + "/" + round;
    Heartbeat::begin(*prefixed(prefix, store), world.rank);
    make_backends(options, prefixed(prefix, store));
    link_->heartbeat =
        Heartbeat::start(world, prefixed(prefix, store->clone()), hosts(prefix, store));
  }

  GroupConnection(const GroupConnection&) = delete;
  GroupConnection& operator=(const GroupConnection&) = delete;

  ~GroupConnection() {
    if (link_->unfinished == 0 && !link_->failed && std::uncaught_exceptions() == exceptions_) {
      link_->heartbeat->leave();
    } else {
      // The destructors would wait for operations that may never end, and this process is about to
      // end.
      static_cast<void>(host_.release());
      static_cast<void>(tensors_.release());
    }
    link_->heartbeat->stop();
  }

  [[nodiscard]] ::c10d::Backend& host() { return *host_; }
  /// Returns the connection for tensors on the device; see `through_host`.
  [[nodiscard]] ::c10d::Backend& tensors() { return tensors_ ? *tensors_ : *host_; }
  /// Tells whether a device's tensors must be copied to the host, because there is no NCCL.
  [[nodiscard]] bool through_host() const { return through_host_; }
  [[nodiscard]] const StorePtr& run_store() const { return run_store_; }
  [[nodiscard]] Heartbeat& heartbeat() { return *link_->heartbeat; }
  [[nodiscard]] Pending pending(WorkPtr work) { return Pending{std::move(work), link_}; }

 private:
  void make_backends(const GroupOptions& options, const StorePtr& store) {
    const auto address =
        options.interface.empty()
            ? address_towards(world_.master_host, world_.master_port, world_.hosts > 1)
            : address_of_interface(options.interface);
    try {
      host_ = gloo(address, prefixed("gloo", store));
      if (options.connect_device) {
        tensors_ = options.connect_device(prefixed("device", store), world_);
      } else if (options.device.is_cuda()) {
        tensors_ = make_nccl(prefixed("nccl", store), world_);
      }
      link_->polls = static_cast<bool>(tensors_);
      through_host_ = !options.device.is_cpu() && !tensors_;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw InputError{
          "the ranks cannot connect to each other from there: " + first_line(error.what()),
          {.object = address},
          "check that the hosts reach each other at such addresses, or name another "
          "network interface"};
    }
  }

  [[nodiscard]] BackendPtr gloo(const std::string& address, const StorePtr& store) const {
    using Gloo = ::c10d::ProcessGroupGloo;
    const auto options = Gloo::Options::create(until(deadline_));
    options->devices.push_back(Gloo::createDeviceForHostname(address));
    return c10::make_intrusive<Gloo>(store, world_.rank, world_.size, options);
  }

  // Returns the names of the ranks' hosts.
  [[nodiscard]] std::vector<std::string> hosts(const std::string& prefix, const StorePtr& store) {
    const auto names = prefixed(prefix + "/host", store);
    char own[256] = {};
    ::gethostname(own, sizeof own - 1);
    names->set(std::to_string(world_.rank), std::string{own});
    std::vector<std::string> result;
    for (int rank = 0; rank < world_.size; ++rank) {
      result.push_back(names->get_to_str(std::to_string(rank)));
    }
    return result;
  }

  World world_;
  Clock::time_point deadline_;
  int exceptions_ = std::uncaught_exceptions();
  StorePtr run_store_;
  BackendPtr host_;
  BackendPtr tensors_;  // null: the connection of the host
  bool through_host_ = false;
  std::shared_ptr<Link> link_ = std::make_shared<Link>();
};

}  // namespace detail
}  // namespace seqtrain::dist
