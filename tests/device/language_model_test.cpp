#include <cstdint>

#include <gtest/gtest.h>

#include <seqtrain/model/awd_lstm/language_model.hpp>

#include "support/fake_device.hpp"
#include "support/on_device.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::model {
namespace {

TEST(LanguageModelOnDevice, NoPassWaits) {
  const tests::OneThread one_thread;
  for (const bool qrnn : {false, true}) {
    LanguageModel model{40,
                        {.shape = {.embedding = 8, .hidden = 8, .layers = 2, .qrnn = qrnn},
                         .device = tests::fake_device}};
    data::LanguageBatch batch{.rows = 3, .width = 5};
    for (std::int64_t i = 0; i < batch.tokens(); ++i) {
      batch.input_ids.push_back(static_cast<std::int32_t>(i * 7 % 40));
      batch.labels.push_back(i * 5 % 40);
    }
    for (batch.index = 0; batch.index < 3; ++batch.index) {
      tests::reset_device_counts();
      static_cast<void>(model.accumulate(batch, 1));
      EXPECT_EQ(tests::device_counts().waits, 0) << batch.index;
      EXPECT_EQ(tests::device_counts().copies_to, 2) << batch.index;
    }
  }
}

}  // namespace
}  // namespace seqtrain::model
