#pragma once

#include <new>
#include <string>
#include <string_view>

#include <c10/util/Exception.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/data/batch.hpp>

namespace seqtrain::model {

/// A batch needs more memory than there is.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Tells whether torch threw this error because there was too little memory, on the processor or on
/// a GPU.
[[nodiscard]] inline bool is_out_of_memory(const c10::Error& error) {
  // The processor's allocator throws no type of its own, so the message decides.
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         std::string_view{error.what()}.find("DefaultCPUAllocator") != std::string_view::npos;
}

/// The advice about a batch that is too large in a training.
inline constexpr const char* smaller_batches = "a smaller --batch-size or --max-length needs less";
/// The advice about such a batch in a program that does not train.
inline constexpr const char* fewer_texts = "fewer or shorter texts at once need less";

/// Returns use(), which works on `batch`. Throws `OutOfMemory` with the batch's size and
/// `advice` if there is too little memory, and `Error` with the operator's name if
/// `tensor::use_deterministic_operators` forbids an operator; gradients may then be incomplete.
/// Another error of torch becomes an `Error` without its stack trace.
template <class Use>
auto within_memory(const data::Batch& batch, const char* advice, const Use& use) {
  const auto too_large = [&] {
    return OutOfMemory{"out of memory on a batch of " + std::to_string(batch.tokens()) +
                           " tokens (" + std::to_string(batch.rows) + " x " +
                           std::to_string(batch.width) + " with padding)",
                       {},
                       advice};
  };
  try {
    return use();
  } catch (const std::bad_alloc&) {
    throw too_large();
  } catch (const c10::Error& error) {
    if (is_out_of_memory(error)) throw too_large();
    const std::string problem = error.what_without_backtrace();
    const auto end = problem.find(" does not have a deterministic implementation");
    if (end == problem.npos) throw Error{sentence_of(error)};  // without a stack trace
    throw Error{"the operator " + problem.substr(0, end) +
                    " has no form that gives equal bits each time on this device",
                {},
                "leave out --deterministic"};
  }
}

}  // namespace seqtrain::model
