#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/batch.hpp>

namespace seqtrain::tensor {

/// A batch on a device. Its tensors are views of one buffer. In a packed batch the tokens of all
/// rows follow one another without padding, as if they were one row. A row of zeros after them
/// makes their number a multiple of `packed_tokens_multiple`, so that there are few sizes of
/// products, for which the device's library keeps its plans.
struct Batch {
  at::Tensor input_ids;       ///< int32 [rows, width], or [1, tokens] if packed
  at::Tensor token_type_ids;  ///< int32, shaped as input_ids
  at::Tensor lengths;         ///< int32 [rows]
  at::Tensor labels;          ///< int32 [rows], -1 for a row without a label
  at::Tensor targets;         ///< float [rows, n] in place of labels; undefined if there are none
  bool padded = false;        ///< true if a row is shorter than the width
  at::Tensor positions = {};  ///< int32 [1, tokens] from 0 on in each row; undefined if not packed
  /// int32 [rows + 2]: the first token of each row, of the row of zeros, and the number of tokens.
  /// Undefined if not packed.
  at::Tensor starts = {};
  bool keeps_tokens = false;  ///< true if an encoder is to return the states of all tokens
};

/// The number of tokens of a packed batch is a multiple of this.
inline constexpr std::int64_t packed_tokens_multiple = 64;

/// Throws `InputError` if the sizes of a batch's members do not fit together.
SEQTRAIN_SEPARATE void check_sizes(const data::Batch& batch);

/// Copies only the labels and the targets of a batch to the device, as `to_device` does.
[[nodiscard]] SEQTRAIN_SEPARATE Batch labels_on(const data::Batch& batch, c10::Device device);

/// Copies the batch into one buffer, and the buffer to the device in one piece. A copy to a device
/// comes from pinned memory, and the call does not wait for it. Throws `InputError` if the sizes of
/// the members do not fit together. The model checks the ids.
[[nodiscard]] SEQTRAIN_SEPARATE Batch to_device(const data::Batch& batch, c10::Device device);

/// Copies the batch to the device as `to_device` does, but packed.
[[nodiscard]] SEQTRAIN_SEPARATE Batch to_device_packed(const data::Batch& batch,
                                                       c10::Device device);

/// Returns only the labels and the targets of a batch, in host memory.
[[nodiscard]] SEQTRAIN_SEPARATE Batch labels_of(const data::Batch& batch);

/// Returns the positions of tokens in their rows: [1, tokens] if packed, else [width] for each row.
[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor positions(const Batch& batch);

/// Returns a mask of the keys that every query may attend to: bool [rows, 1, 1, width], true for a
/// token, false for padding.
[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor attention_mask(const Batch& batch);

}  // namespace seqtrain::tensor

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/tensor/src/batch.hpp>
#endif
