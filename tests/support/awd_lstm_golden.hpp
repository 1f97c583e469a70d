#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/weights/fastai.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// The small AWD-LSTM models of tests/golden/awd_lstm.py.
inline constexpr std::int64_t awd_lstm_words = 40;
inline constexpr model::AwdLstmShape awd_lstm_shape{.embedding = 12, .hidden = 16, .layers = 3};
inline constexpr model::AwdLstmDropout no_dropout{0, 0, 0, 0, 0};

inline std::filesystem::path awd_lstm_golden() {
  return golden() / "awd_lstm";
}

/// The inputs and results of the models in PyTorch, or in fastai.
class AwdLstmGolden {
 public:
  explicit AwdLstmGolden(const char* file = "expected.json")
      : document_{json::Document::load(awd_lstm_golden() / file)} {}

  /// The golden of tests/golden/awd_lstm_fastai.py.
  [[nodiscard]] static AwdLstmGolden of_fastai() { return AwdLstmGolden{"fastai.json"}; }

  [[nodiscard]] double number(const char* field) const {
    return document_.root().at(field).number();
  }

  [[nodiscard]] std::vector<double> numbers(const char* model, const char* field) const {
    std::vector<double> result;
    for (const auto& value : document_.root().at(model).at(field).items()) {
      result.push_back(value.number());
    }
    return result;
  }

  /// Returns the batches of an epoch of the language model.
  [[nodiscard]] std::vector<data::LanguageBatch> language_batches(std::int64_t epoch) const {
    const auto stream = numbers("language", "stream");
    const auto widths = numbers("language", "widths");
    std::size_t length = 0;
    for (const double width : widths) length += static_cast<std::size_t>(width);
    std::vector<data::LanguageBatch> batches;
    std::size_t begin = 0;
    for (const double width : widths) {
      data::LanguageBatch batch{.epoch = epoch,
                                .index = static_cast<std::int64_t>(batches.size()),
                                .rows = 4,
                                .width = static_cast<std::int64_t>(width)};
      for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
          const std::size_t place = row * length + begin + i;
          batch.input_ids.push_back(static_cast<std::int32_t>(stream[place]));
          batch.labels.push_back(static_cast<std::int64_t>(stream[place + 1]));
        }
      }
      begin += static_cast<std::size_t>(width);
      batches.push_back(batch);
    }
    return batches;
  }

  /// Returns the classifier's batches, which it got one after the other.
  [[nodiscard]] std::vector<data::Batch> classifier_batches() const {
    std::vector<data::Batch> batches;
    for (const auto& entry : document_.root().at("classifier").at("batches").items()) {
      data::Batch batch;
      fill(entry.at("input_ids"), batch.input_ids);
      fill(entry.at("lengths"), batch.lengths);
      fill(entry.at("labels"), batch.labels);
      if (const auto targets = entry.find("targets")) fill(*targets, batch.targets);
      batch.rows = static_cast<std::int64_t>(batch.lengths.size());
      batch.width = *std::ranges::max_element(batch.lengths);
      batch.token_type_ids.resize(batch.input_ids.size());
      for (std::int64_t row = 0; row < batch.rows; ++row) batch.row_ids.push_back(row);
      batch.index = static_cast<std::int64_t>(batches.size());
      batches.push_back(batch);
    }
    return batches;
  }

 private:
  template <class T>
  static void fill(const json::Value& values, std::vector<T>& out) {
    for (const auto& value : values.items()) out.push_back(static_cast<T>(value.number()));
  }

  json::Document document_;
};

/// fastai's optimizer and schedule in a cycle of 50 steps, with its rates of `slice(rate)`.
class FastaiCycle {
 public:
  FastaiCycle(const AwdLstmGolden& golden, const model::LayerGroups& groups)
      : optimizer_{{.lr = golden.number("rate"),
                    .beta2 = 0.99,
                    .eps = 1e-5,
                    .weight_decay = golden.number("decay"),
                    .lr_factors = optim::last_group_first(groups)}} {}

  template <class M>
  void step(const M& model) {
    const optim::OneCycle cycle;
    optimizer_.step(model.parameters(),
                    {.lr_scale = cycle.lr_scale(step_, 50), .momentum = cycle.momentum(step_, 50)});
    ++step_;
  }

 private:
  optim::AdamW optimizer_;
  std::int64_t step_ = 0;
};

/// Copies the file's tensors into a model's parameters with the same names.
template <class M>
void load_all(M& model, const weights::FastaiFile& file) {
  std::vector<weights::TensorView> tensors;
  const auto state = model.state_dict();
  for (const auto& tensor : state.views()) {
    tensors.push_back(file.at(tensor.name));
    tensors.back().name = tensor.name;
  }
  model.load_state_dict(tensors);
}

}  // namespace seqtrain::tests
