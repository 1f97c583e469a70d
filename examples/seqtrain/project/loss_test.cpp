// Compares the loss with numbers that were computed by hand.
#include "loss.hpp"

#include <cmath>
#include <iostream>

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

int main() {
  // Two labels with the probabilities 0.5: (0.5 - 1)² + (0.5 - 0)² for each row.
  const at::Tensor losses = Brier{}(at::zeros({2, 2}), {.labels = at::tensor({0, 1})});
  for (int row = 0; row < 2; ++row) {
    const float loss = losses.const_data_ptr<float>()[row];
    if (std::abs(loss - 0.5F) > 1e-6F) {
      std::cerr << "row " << row << " has the loss " << loss << ", not 0.5\n";
      return 1;
    }
  }
}
