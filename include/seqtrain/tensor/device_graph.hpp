#pragma once

#include <functional>
#include <memory>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::tensor {

/// Work of a device that was captured once and that one call starts again, on the same memory.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;

  /// Begins to capture what this thread gives the device's current stream, which must not be the
  /// default one. The work is not done. Memory that is allocated meanwhile comes from a pool of
  /// graphs: that of `beside`, or a new one if it is null.
  virtual void begin(const DeviceGraph* beside) = 0;

  /// Ends the capture, on the stream on which it began.
  virtual void end() = 0;

  /// Queues the captured work on the current stream. It does not wait for the device. The device's
  /// own generator draws the numbers that it would draw if the operators were called now.
  virtual void replay() const = 0;
};

/// The name of the function that a library of the process may export to make graphs of its own
/// device: `DeviceGraph*(c10::Device)`, which returns null if it has none. The caller owns the
/// graph.
inline constexpr const char* graph_maker_name = "seqtrain_make_graph";

/// Makes graphs of a device on a stream of their own.
class GraphMaker {
 public:
  /// Throws `Error` if the device has no graphs, or if those of a few numbers compute wrong ones.
  SEQTRAIN_SEPARATE explicit GraphMaker(c10::Device device);

  /// Captures work(), which must not wait for the device, and must not copy to the host or from it.
  /// Tensors from outside that it uses must exist until the last replay. A graph shares the pool of
  /// `beside`, if it is given; graphs of one pool may overwrite each other's tensors, except those
  /// that still exist. Throws what work() throws, and `c10::Error` if the capture fails.
  [[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<const DeviceGraph> capture(
      const std::function<void()>& work, const DeviceGraph* beside = nullptr) const;

 private:
  void try_out() const;

  c10::Device device_;
  c10::Stream stream_;
};

}  // namespace seqtrain::tensor

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/tensor/src/device_graph.hpp>
#endif
