#include <cstddef>
#include <cstdint>

#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include <seqtrain/experiment/deciding_words.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::experiment {
namespace {

std::size_t ids_of(std::int64_t layers, std::int64_t hidden_size,
                   c10::Device device = c10::DeviceType::CPU) {
  weights::ModelConfig config;
  config.num_hidden_layers = layers;
  config.hidden_size = hidden_size;
  return most_ids_to_explain(config, device);
}

TEST(DecidingWords, LargeEncodersReadFewerIds) {
  EXPECT_EQ(ids_of(6, 384), 16'384);
  EXPECT_EQ(ids_of(12, 384), 16'384);
  EXPECT_EQ(ids_of(12, 768), 4'629);
  EXPECT_EQ(ids_of(28, 1'024), 1'116);
  EXPECT_EQ(ids_of(28, 1'024, c10::DeviceType::CUDA), 16'384);
}

}  // namespace
}  // namespace seqtrain::experiment
