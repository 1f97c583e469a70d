// The program that the others are compared with: twenty lines on torch/torch.h.
#include <iostream>

#include <torch/torch.h>

int main() {
  torch::nn::Sequential net{torch::nn::Linear{4, 8}, torch::nn::ReLU{}, torch::nn::Linear{8, 2}};
  torch::optim::Adam optimizer{net->parameters(), 1e-3};
  for (int step = 0; step < 10; ++step) {
    const torch::Tensor x = torch::rand({16, 4});
    const torch::Tensor y = torch::randint(2, {16});
    optimizer.zero_grad();
    const auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
}
