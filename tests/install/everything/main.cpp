#include <ATen/ops/ones.h>

#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/trainer.hpp>

int main() {
  const seqtrain::tensor::Parameter bias{"classifier.bias", at::ones({3}), {}};
  return bias.value.numel() == 3 ? 0 : 1;
}
