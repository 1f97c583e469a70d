#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <c10/core/StreamGuard.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/bucket_exchange.hpp>
#include <seqtrain/dist/buckets.hpp>
#include <seqtrain/dist/exchange.hpp>
#include <seqtrain/dist/exchange_stream.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/own_sums.hpp>
#include <seqtrain/dist/reduction.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::dist {

/// The exchange with its thread.
class Exchange::State {
 public:
  State(Group& group, std::int64_t replicas, Reduction reduction)
      : group_{&group}, bucket_exchange_{group, replicas, reduction} {}
  ~State() { end(); }

  /// Starts the exchange of a step with this many parts. Every process of the group must call
  /// `begin` and `finish`.
  void begin(OwnSums own, std::int64_t parts) {
    own_ = std::move(own);
    ready_ = own_.parameters.size();
    if (!own_.losses.device().is_cpu()) {
      if (!stream_) stream_.emplace(own_.losses.device());
      stream_->begin();
    }
    bucket_exchange_.begin(own_, parts, stream_ ? &*stream_ : nullptr);
    thread_ = std::jthread{[this] { run(); }};
  }

  /// Reports that the gradients of the parameters from number `first` on, except late ones, are
  /// complete; on a device, that the calling thread has queued all work on them on its current
  /// stream.
  void ready(std::size_t first) {
    if (stream_) stream_->mark(first);
    tell(first);
  }

  /// Ends a step that has begun and cannot be finished. The other processes throw an error. The
  /// exchange cannot be used afterwards.
  void abandon(const std::string& problem) noexcept {
    group_->fail_note(problem);
    end();
  }

  /// Waits until the parameters hold the gradients and the losses of the whole step; on a device,
  /// until what the calling thread queues next on its current stream finds them. Returns whether
  /// any process passed `stop`.
  bool finish(bool stop) {
    stop_ = stop;
    ready(all_ready);
    thread_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, {}));
    if (stream_) stream_->join();
    return stop_;
  }

 private:
  static constexpr std::size_t all_ready = static_cast<std::size_t>(-1);

  void tell(std::size_t first) {
    ready_ = first;
    ready_.notify_one();
  }

  void end() noexcept {
    abandoned_ = true;
    tell(all_ready);
    if (thread_.joinable()) thread_.join();
  }

  void run() noexcept {
    try {
      const c10::OptionalStreamGuard on_stream{stream_ ? std::optional{stream_->stream()}
                                                       : std::nullopt};
      const tensor::OneThread alone;  // The threads of torch would keep a core busy.
      exchange();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void exchange() {
    buckets_.cut_dense(own_.parameters);
    bool tables_cut = false;
    // The next bucket is sent while one is summed.
    for (std::size_t i = 0; i < buckets_.size() + 2; ++i) {
      if (i == buckets_.size() && !tables_cut) {
        wait_until_ready(all_ready);
        share_rows();
        bucket_exchange_.collect_rows();
        buckets_.cut_others(own_.parameters, own_.losses.numel());
        tables_cut = true;
      }
      if (i < buckets_.size()) {
        if (!tables_cut) wait_until_ready(buckets_[i].pieces.back().parameter);
        bucket_exchange_.send(buckets_[i]);
      }
      if (i > 0 && i <= buckets_.size()) bucket_exchange_.add_up();
      if (i > 1) bucket_exchange_.receive();
    }
    bucket_exchange_.return_rows();
    bucket_exchange_.wait();
    for_each_table(own_.parameters, [&](std::size_t, const tensor::Parameter& parameter) {
      parameter.touched->take_into_account(tensor::changes_of(parameter.gradient));
    });
  }

  void wait_until_ready(std::size_t parameter) {
    const auto includes = [&](std::size_t first) {
      return first == all_ready || (parameter != all_ready && first <= parameter);
    };
    for (;;) {
      const std::size_t first = ready_;
      if (abandoned_) throw Error{"the step was abandoned"};
      if (includes(first)) break;
      ready_.wait(first);
    }
    if (stream_) stream_->follow(includes);
  }

  /// Tells the other processes which rows of the tables this one has touched, and whether it should
  /// stop. Afterwards `Parameter::touched` has the rows that any process has touched.
  void share_rows() {
    std::string message{stop_ ? '\1' : '\0'};
    for_each_table(own_.parameters, [&](std::size_t i, const tensor::Parameter& parameter) {
      tensor::find_touched(parameter);
      for (const GradientCopy& copy : own_.before) copy.insert_rows(i, *parameter.touched);
      append_runs(message, *parameter.touched);
    });
    for (const std::string& other : group_->all_gather(message)) {
      if (other.empty()) throw Error{"an empty message from another process"};
      stop_ = stop_ || other.front() == '\1';
      std::size_t at = 1;
      for_each_table(own_.parameters, [&](std::size_t, const tensor::Parameter& parameter) {
        insert_runs(other, at, *parameter.touched);
      });
    }
  }

  Group* group_;
  OwnSums own_;
  Buckets buckets_;
  BucketExchange bucket_exchange_;
  std::optional<ExchangeStream> stream_;  ///< the stream of a device
  std::atomic<std::size_t> ready_ = 0;
  std::atomic<bool> abandoned_ = false;
  bool stop_ = false;
  std::exception_ptr error_;
  std::jthread thread_;  // The last member, because it uses the others.
};

SEQTRAIN_SEPARATE Exchange::Exchange(Group& group, std::int64_t replicas, Reduction reduction)
    : state_{std::make_unique<State>(group, replicas, reduction)} {}
SEQTRAIN_SEPARATE Exchange::Exchange(Exchange&&) noexcept = default;
SEQTRAIN_SEPARATE Exchange& Exchange::operator=(Exchange&&) noexcept = default;
SEQTRAIN_SEPARATE Exchange::~Exchange() = default;

SEQTRAIN_SEPARATE void Exchange::begin(OwnSums own, std::int64_t parts) {
  state_->begin(std::move(own), parts);
}
SEQTRAIN_SEPARATE void Exchange::ready(std::size_t first) {
  state_->ready(first);
}
SEQTRAIN_SEPARATE void Exchange::abandon(const std::string& problem) noexcept {
  state_->abandon(problem);
}
SEQTRAIN_SEPARATE bool Exchange::finish(bool stop) {
  return state_->finish(stop);
}

}  // namespace seqtrain::dist
