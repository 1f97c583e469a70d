#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/awd_lstm/qrnn.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::model {
namespace {

template <class Element>
at::Tensor made(at::IntArrayRef shape, const Element& element) {
  at::Tensor tensor = at::empty(shape, at::kDouble);
  auto* const numbers = tensor.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers[i] = element(static_cast<double>(i));
  return tensor;
}

void expect_near(const at::Tensor& found, const json::Value& expected) {
  const at::Tensor flat = found.detach().contiguous();
  const auto numbers = expected.items();
  ASSERT_EQ(static_cast<std::size_t>(flat.numel()), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(flat.const_data_ptr<double>()[i], numbers[i].number(), 1e-12) << i;
  }
}

TEST(Qrnn, EqualsFastaisLayersAndTheirGradients) {
  const auto document = json::Document::load(tests::golden() / "qrnn.json");
  const auto golden = document.root();
  std::vector<std::int64_t> sizes;
  for (const auto& size : golden.at("sizes").items()) sizes.push_back(size.integer());
  const std::int64_t rows = golden.at("rows").integer();
  std::vector<at::Tensor> parameters;  // weight and bias of each layer
  std::vector<RecurrentState::Layer> states;
  const auto add = [&](at::IntArrayRef shape) {
    const auto p = static_cast<double>(parameters.size());
    parameters.push_back(made(shape, [p](double i) { return std::sin(i + p) / 3; }));
    parameters.back().set_requires_grad(true);
  };
  for (std::size_t i = 0; i < 2; ++i) {
    add({3 * sizes[i + 1], (i == 0 ? 2 : 1) * sizes[i]});
    add({3 * sizes[i + 1]});
    states.push_back({at::zeros({rows, sizes[i + 1]}, at::kDouble),
                      at::zeros({rows, i == 0 ? sizes[0] : 1}, at::kDouble)});
  }
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (std::size_t b = 0; b < 2; ++b) {
    at::Tensor x = made({rows, golden.at("widths").items()[b].integer(), sizes[0]},
                        [b](double i) { return std::cos(i + static_cast<double>(b)); });
    for (std::size_t i = 0; i < 2; ++i) {
      x = qrnn(x, states[i], parameters[2 * i], parameters[2 * i + 1]);
    }
    expect_near(x, golden.at("outputs").items()[b]);
    loss = loss.add(x.mul(made(x.sizes(), [](double i) { return std::cos(3 * i); })).sum());
  }
  loss.backward();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    expect_near(parameters[i].grad(), golden.at("gradients").items()[i]);
  }
}

}  // namespace
}  // namespace seqtrain::model
