#pragma once

#include <memory>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/dist/handles.hpp>

namespace seqtrain::dist {

namespace detail {
struct Link;
}  // namespace detail

/// An operation of a group that may still be running. Its tensors must not be used before `wait`
/// returns, or by the host alone if `order` was called.
class Pending {
 public:
  /// Makes an operation that is done.
  SEQTRAIN_SEPARATE Pending();
  SEQTRAIN_SEPARATE Pending(WorkPtr work, std::shared_ptr<detail::Link> link);
  SEQTRAIN_SEPARATE Pending(Pending&&) noexcept;
  SEQTRAIN_SEPARATE Pending& operator=(Pending&&) noexcept;
  SEQTRAIN_SEPARATE ~Pending();

  /// Makes later work of the device's current stream come after the operation if the connection can
  /// do so; `wait` still has to be called, later. Otherwise it is `wait`.
  SEQTRAIN_SEPARATE void order();

  /// Waits until the operation is done, without limit while the other ranks are alive. Throws
  /// `Error` that names the rank if one has ended or cannot be reached. After that the group cannot
  /// be used.
  SEQTRAIN_SEPARATE void wait();

 private:
  WorkPtr work_;
  std::shared_ptr<detail::Link> link_;
};

}  // namespace seqtrain::dist

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/dist/src/pending.hpp>
#endif
