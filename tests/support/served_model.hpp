#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/unicode/utf8.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::tests {

/// A predictor without a model: its ids are 1 and the bytes of the texts, and its logits follow
/// from them, from `shift` and from the number of the adapter that encoded them. `predict` throws
/// for a text that contains `fail`; the logits of the text `nan` are NaN.
class ServedModel {
 public:
  struct Options {
    std::vector<std::string> labels = {"negative", "neutral", "positive"};
    ProblemType type = ProblemType::single_label;
    std::size_t max_length = 32;
    float shift = 0;
    std::int32_t adapter = 0;
    std::int64_t columns = 0;  ///< of the logits, if they are more than the labels
    std::size_t window = 0;    ///< most ids of a window; 0 if there are no windows
    std::string pooling = {};  ///< of an embedding; empty for a classifier
    /// Called with the size of the batch.
    std::function<void(std::size_t)> before_predict = [](std::size_t) {};
    /// Called with each text before it is encoded or its tokens are named.
    std::function<void(std::string_view)> before_encode = [](std::string_view) {};
  };

  explicit ServedModel(Options options)
      : options_{std::move(options)},
        task_{
            .labels = options_.labels, .problem_type = options_.type, .pooling = options_.pooling} {
    if (task_.embeds()) task_.labels.clear();
    if (options_.window == 0) return;
    options_.max_length = 1'000'000;
    windows_ = text::Windows{
        .length = options_.window,
        .templates = {.single = {.before = {1}}, .pair = {.before = {1}, .between = {2}}}};
  }

  [[nodiscard]] const predict::Task& task() const { return task_; }
  [[nodiscard]] std::size_t max_length() const { return options_.max_length; }

  [[nodiscard]] predict::Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                                        std::size_t max_length,
                                        std::optional<text::LongTexts> way = {}) const {
    options_.before_encode(text);
    if (!text::is_valid_utf8(text)) throw std::runtime_error{"not UTF-8"};
    if (text == "untokenizable") throw std::runtime_error{"no ids for this"};
    predict::Encoded encoded{.input_ids = {1}, .adapter = options_.adapter};
    auto& ids = encoded.input_ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    if (pair) ids.push_back(2);
    encoded.first_segment = ids.size();
    for (const char c : pair.value_or("")) ids.push_back(static_cast<unsigned char>(c));
    if (ids.size() <= max_length) return encoded;
    const auto excess = static_cast<std::ptrdiff_t>(ids.size() - max_length);
    const bool tail = way == text::LongTexts::tail;
    encoded.first_segment = std::min(encoded.first_segment, max_length);
    ids.erase(tail ? ids.begin() : ids.end() - excess, tail ? ids.begin() + excess : ids.end());
    return encoded;
  }

  [[nodiscard]] metrics::Logits predict(
      std::span<const predict::Encoded> texts,
      std::vector<text::DecidingWindow>* deciding = nullptr) const {
    if (predicting_->exchange(true)) throw std::logic_error{"two threads predict at once"};
    options_.before_predict(texts.size());
    metrics::Logits logits{std::ssize(texts), std::ssize(row_of(texts.front().input_ids, 0))};
    bool failed = false;
    std::vector<text::DecidingWindow> windows;
    for (Eigen::Index i = 0; const predict::Encoded& encoded : texts) {
      const std::string text{encoded.input_ids.begin(), encoded.input_ids.end()};
      failed = failed || text.find("fail") != text.npos;
      std::ranges::copy(row_of(encoded, windows), logits.row(i++).data());
    }
    if (deciding != nullptr && windows_) *deciding = windows;
    *predicting_ = false;
    if (failed) throw std::runtime_error{"the model broke"};
    return logits;
  }

  [[nodiscard]] const std::optional<text::Windows>& windows() const { return windows_; }

  /// Returns the means of the windows' logits. The window with the greatest logit decides.
  [[nodiscard]] predict::Pooled pooled(const metrics::Logits& windows) const {
    predict::Pooled pooled;
    for (const auto& column : windows.colwise()) pooled.logits.push_back(column.mean());
    const auto label = std::ranges::max_element(pooled.logits) - pooled.logits.begin();
    Eigen::Index window = 0;
    windows.col(label).maxCoeff(&window);
    pooled.deciding = static_cast<std::size_t>(window);
    return pooled;
  }

  [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                               bool special) const {
    options_.before_encode(text);
    std::vector<text::Token> tokens;
    if (special) tokens.push_back({.id = 1, .text = "[1]", .special = true});
    for (std::size_t i = 0; i < text.size(); ++i) {
      tokens.push_back(
          {.id = static_cast<unsigned char>(text[i]), .text = {text[i]}, .begin = i, .end = i + 1});
    }
    return tokens;
  }

 private:
  [[nodiscard]] std::vector<float> row_of(std::span<const std::int32_t> ids,
                                          std::int32_t adapter) const {
    const bool regression = options_.type == ProblemType::regression;
    const auto own = regression ? 1 : std::ssize(options_.labels);
    const bool is_nan = std::string{ids.begin(), ids.end()} == "\1nan";
    float sum = options_.shift + static_cast<float>(adapter);
    for (const auto id : ids) sum += static_cast<float>(id % 13) * 0.1f;
    std::vector<float> row;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(own, options_.columns); ++i) {
      row.push_back(is_nan ? std::nanf("") : sum * static_cast<float>(regression ? 1 : i) - 1);
    }
    return row;
  }

  /// Returns the logits of a text, and adds its window that decided to `deciding`.
  [[nodiscard]] std::vector<float> row_of(const predict::Encoded& text,
                                          std::vector<text::DecidingWindow>& deciding) const {
    deciding.emplace_back();
    if (!windows_ || text.input_ids.size() <= windows_->length) {
      return row_of(text.input_ids, text.adapter);
    }
    const auto cut = text::windows_of(text.input_ids, text.first_segment, *windows_);
    metrics::Logits logits{std::ssize(cut), std::ssize(row_of(text.input_ids, 0))};
    for (std::size_t i = 0; i < cut.size(); ++i) {
      std::ranges::copy(row_of(cut[i].input_ids, 0),
                        logits.row(static_cast<Eigen::Index>(i)).data());
    }
    const auto result = pooled(logits);
    const auto& window = cut[*result.deciding];
    deciding.back() = {*result.deciding, cut.size(), window.of_second, window.begin, window.end};
    return result.logits;
  }

  Options options_;
  predict::Task task_;
  std::optional<text::Windows> windows_ = {};
  std::unique_ptr<std::atomic<bool>> predicting_ = std::make_unique<std::atomic<bool>>(false);
};

static_assert(serve::Servable<ServedModel> && predict::ReadsWindows<ServedModel>);

/// Returns the model in the form that a server needs.
inline serve::Served<ServedModel> served(ServedModel::Options options = {}) {
  return {ServedModel{std::move(options)}, {.id = "fake", .revision = "abc", .dtype = "float32"}};
}

/// A door at which threads can be stopped.
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
  /// Returns how many threads have come to the door.
  int arrived() {
    const std::lock_guard lock{mutex_};
    return arrived_;
  }
  /// Waits until this many threads have come to the door.
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
