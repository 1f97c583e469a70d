#pragma once

#include <string_view>

namespace seqtrain::cuda {

/// A kernel as text, in the part of CUDA C++ that a compiler of processors takes too if it is given
/// the few names that CUDA adds. The text includes no header and may hold several kernels.
/// The kernel has C linkage and one argument, a struct.
struct KernelSource {
  std::string_view name;  ///< of the kernel
  std::string_view text;
};

}  // namespace seqtrain::cuda
