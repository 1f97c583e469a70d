#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <utility>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace seqtrain::dist {

/// The stream of a device on which one thread exchanges gradients, while another thread computes
/// more of them on its own current stream. Only events order the two streams, so neither thread
/// waits for the device.
class ExchangeStream {
 public:
  explicit ExchangeStream(c10::Device device)
      : device_{device},
        guard_{device.type()},
        stream_{guard_.getStreamFromGlobalPool(device, true)} {}

  [[nodiscard]] c10::Stream stream() const { return stream_; }

  /// Forgets the marks of an earlier step.
  void begin() { marks_.clear(); }

  /// Marks that the calling thread has queued all work on the gradients of the parameters from
  /// number `first` on.
  void mark(std::size_t first) {
    c10::Event event = recorded(guard_.getStream(device_));
    const std::lock_guard lock{mutex_};
    marks_.emplace_back(first, std::move(event));
  }

  /// Makes later work of the stream come after the earliest mark for which `includes(first)`.
  template <class Includes>
  void follow(const Includes& includes) {
    const std::lock_guard lock{mutex_};
    for (const auto& [first, event] : marks_) {
      if (includes(first)) return event.block(stream_);
    }
  }

  /// Waits on the calling thread for the work of the stream.
  void wait() const { recorded(stream_).synchronize(); }

  /// Makes later work of the calling thread's current stream come after the work of this one.
  void join() const { recorded(stream_).block(guard_.getStream(device_)); }

  /// Keeps the memory of a tensor, should it be freed after an error, until the stream's work is
  /// done.
  void keep(const at::Tensor& tensor) const {
    guard_.recordDataPtrOnStream(tensor.storage().data_ptr(), stream_);
  }

 private:
  [[nodiscard]] c10::Event recorded(const c10::Stream& stream) const {
    c10::Event event{device_.type()};
    event.record(stream);
    return event;
  }

  c10::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  c10::Stream stream_;
  std::mutex mutex_;
  std::list<std::pair<std::size_t, c10::Event>> marks_;
};

}  // namespace seqtrain::dist
