// Prints why this process cannot use CUDA, or that it can and which precision `auto` is on each of
// two GPUs.
#include <iostream>

#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/device.hpp>

int main() {
  using namespace seqtrain::tensor;
  std::cout << (has_cuda() ? "CUDA can be used" : cuda_problem()) << '\n';
  if (!has_cuda()) return 0;
  for (const char* gpu : {"cuda:0", "cuda:1"}) {
    const c10::Device device{gpu};
    std::cout << compute_capability(device) << ": "
              << name(seqtrain::model::resolve(seqtrain::model::Precision::automatic, device))
              << '\n';
  }
}
