// Prints why this process cannot use CUDA, or that it can.
#include <iostream>

#include <seqtrain/tensor/device.hpp>

int main() {
  using namespace seqtrain::tensor;
  std::cout << (has_cuda() ? "CUDA can be used" : cuda_problem()) << '\n';
}
