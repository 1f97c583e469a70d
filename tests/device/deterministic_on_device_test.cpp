#include <cstdlib>
#include <string>

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/tensor/machine.hpp>

#include "support/deterministic.hpp"
#include "support/fake_device.hpp"
#include "support/model_case.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::tests {
namespace {

class DeterministicOnDevice : public testing::Test {
 protected:
  ~DeterministicOnDevice() override { ::unsetenv("CUBLAS_WORKSPACE_CONFIG"); }

 private:
  DeterminismRestored restored_;
};

TEST_F(DeterministicOnDevice, SetsWhatTorchSets) {
  tensor::use_deterministic_operators(fake_device);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(at::globalContext().deterministicAlgorithmsWarnOnly());
  EXPECT_EQ(std::string{std::getenv("CUBLAS_WORKSPACE_CONFIG")}, ":4096:8");
}

TEST_F(DeterministicOnDevice, LeavesTheUsersSettingOfCublas) {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8", 1);
  tensor::use_deterministic_operators(fake_device);
  EXPECT_EQ(std::string{std::getenv("CUBLAS_WORKSPACE_CONFIG")}, ":16:8");
}

TEST_F(DeterministicOnDevice, EachFamilyTrains) {
  const OneThread one_thread;
  tensor::use_deterministic_operators(fake_device);
  for (const auto& directory : model_cases()) {
    SCOPED_TRACE(directory.filename());
    const auto batch = ModelCase{directory}.batch(0);
    auto a = model::load_classifier(directory, {.dropout = 0.1, .seed = 3, .device = fake_device});
    auto b = model::load_classifier(directory, {.dropout = 0.1, .seed = 3, .device = fake_device});
    EXPECT_EQ(static_cast<double>(a.accumulate(batch, 1)),
              static_cast<double>(b.accumulate(batch, 1)));
    for (std::size_t i = 0; i < a.parameters().size(); ++i) {
      const at::Tensor& gradient = a.parameters()[i].gradient;
      if (!gradient.defined()) continue;  // never learns
      EXPECT_EQ(difference(gradient, b.parameters()[i].gradient), 0);
    }
  }
}

}  // namespace
}  // namespace seqtrain::tests
