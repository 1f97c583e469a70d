// The library libseqtrain_nccl.so, which dist/group_connection.hpp loads when several processes use
// GPUs. It is apart from the programs because it needs headers and libraries of CUDA.
#include <chrono>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

// Returns a backend that the caller owns, with one reference.
extern "C" c10d::Backend* seqtrain_make_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                             int size, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options).release();
}
