#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/serve/predictor.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::tests {

/// A predictor without a model: its ids are the bytes of the texts, and its logits follow from them
/// and from `shift`. A text that contains `fail` makes `predict` throw.
class ServedModel {
 public:
  struct Options {
    std::vector<std::string> labels = {"negative", "neutral", "positive"};
    ProblemType type = ProblemType::single_label;
    std::size_t max_length = 32;
    float shift = 0;
    std::function<void(std::size_t)> before_predict = [](std::size_t) {};  ///< has the batch's size
  };

  struct Encoded {
    std::vector<std::int32_t> input_ids;
    std::string text;
  };

  explicit ServedModel(Options options) : options_{std::move(options)} {}

  [[nodiscard]] const std::vector<std::string>& labels() const { return options_.labels; }
  [[nodiscard]] ProblemType problem_type() const { return options_.type; }
  [[nodiscard]] std::size_t max_length() const { return options_.max_length; }
  [[nodiscard]] serve::ModelFacts facts() const {
    return {.id = "fake", .revision = "abc", .dtype = "float32"};
  }

  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               serve::Truncation truncation) const {
    if (!text::is_valid_utf8(text)) throw std::runtime_error{"not UTF-8"};
    if (text == "untokenizable") throw std::runtime_error{"no ids for this"};
    Encoded encoded{.input_ids = {1}, .text = std::string{text}};
    for (const char c : text) encoded.input_ids.push_back(static_cast<unsigned char>(c));
    if (pair) {
      encoded.text += "|" + std::string{*pair};
      encoded.input_ids.push_back(2);
      for (const char c : *pair) encoded.input_ids.push_back(static_cast<unsigned char>(c));
    }
    auto& ids = encoded.input_ids;
    if (truncation == serve::Truncation::none || ids.size() <= max_length()) return encoded;
    const auto excess = static_cast<std::ptrdiff_t>(ids.size() - max_length());
    if (truncation == serve::Truncation::left) ids.erase(ids.begin(), ids.begin() + excess);
    if (truncation == serve::Truncation::right) ids.erase(ids.end() - excess, ids.end());
    return encoded;
  }

  std::vector<float> predict(std::span<const Encoded> texts) {
    if (predicting_.exchange(true)) throw std::logic_error{"two threads predict at once"};
    options_.before_predict(texts.size());
    std::vector<float> logits;
    bool failed = false;
    for (const Encoded& text : texts) {
      failed = failed || text.text.find("fail") != text.text.npos;
      float sum = options_.shift;
      for (const auto id : text.input_ids) sum += static_cast<float>(id % 13) * 0.1f;
      for (std::size_t i = 0; i < width(); ++i) {
        logits.push_back(text.text == "nan" ? std::nanf("") : sum * static_cast<float>(i) - 1);
      }
    }
    predicting_ = false;
    if (failed) throw std::runtime_error{"the model broke"};
    return logits;
  }

  [[nodiscard]] std::vector<double> scores(std::span<const float> logits) const {
    std::vector<double> scores;
    double sum = 0;
    for (const float logit : logits) {
      const double e = std::exp(static_cast<double>(logit));
      sum += e;
      if (options_.type == ProblemType::single_label) scores.push_back(e);
      if (options_.type == ProblemType::multi_label) scores.push_back(e / (1 + e));
      if (options_.type == ProblemType::regression) scores.push_back(logit);
    }
    if (options_.type != ProblemType::single_label) return scores;
    for (double& score : scores) score /= sum;
    return scores;
  }

  [[nodiscard]] serve::Token token(int id) const {
    if (id < 32) return {.text = "[" + std::to_string(id) + "]", .special = true};
    return {.text = {static_cast<char>(id)}};
  }

 private:
  [[nodiscard]] std::size_t width() const {
    return options_.type == ProblemType::regression ? 1 : options_.labels.size();
  }

  Options options_;
  std::atomic<bool> predicting_ = false;
};

/// A door that a thread can be held at.
class Door {
 public:
  /// Waits until the door is open.
  void pass() {
    std::unique_lock lock{mutex_};
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock{mutex_};
    open_ = true;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock{mutex_};
    open_ = false;
  }
  /// Waits until so many threads have come to the door.
  void await(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  bool open_ = true;
};

}  // namespace seqtrain::tests
