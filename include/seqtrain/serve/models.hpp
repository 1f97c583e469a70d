#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/servable.hpp>

namespace seqtrain::serve {

/// Runs the model once on a short and once on a long text, because the first predictions take
/// longer than later ones.
template <Servable P>
void warm(const P& predictor) {
  std::string longest;
  for (std::size_t i = 0; i < predictor.max_length() && i < 512; ++i) longest += "a ";
  std::vector<predict::Encoded> texts{encode(predictor, "a", {}, Truncation::right)};
  static_cast<void>(predictor.predict(std::span{std::as_const(texts)}));
  texts.push_back(encode(predictor, longest, {}, Truncation::right));
  static_cast<void>(predictor.predict(std::span{std::as_const(texts)}));
}

/// The model that is served. A separate thread loads and warms it, and later its replacements.
/// Until a replacement is ready requests get the old model.
template <Servable P>
class Models {
 public:
  using Model = std::shared_ptr<const Served<P>>;
  using Load = std::function<Served<P>()>;

  Models(Load load, log::Log log) : load_{std::move(load)}, log_{std::move(log)} {
    thread_ = std::thread{[this] { work(); }};
  }
  ~Models() {
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Returns the current model, or null before the first one is ready.
  [[nodiscard]] Model present() const {
    const std::lock_guard lock{mutex_};
    return present_;
  }

  /// Loads the model again. Several calls during one load count as one.
  void reload() {
    {
      const std::lock_guard lock{mutex_};
      wanted_ = true;
    }
    changed_.notify_all();
  }

  /// Tells whether a model is being loaded or will be. The destructor waits until that is done.
  [[nodiscard]] bool is_loading() const {
    const std::lock_guard lock{mutex_};
    return loading_ || wanted_;
  }

  /// Returns the exception that kept the first model from being loaded, or null.
  [[nodiscard]] std::exception_ptr failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
  }

 private:
  void work() {
    for (std::unique_lock lock{mutex_};;) {
      changed_.wait(lock, [this] { return wanted_ || ended_; });
      if (ended_) return;
      wanted_ = false;
      loading_ = true;
      lock.unlock();
      try {
        load();
      } catch (const std::exception& error) {
        if (present()) log_.error(std::string{"The old model stays: "} + error.what());
        lock.lock();
        if (!present_) failure_ = std::current_exception();
        lock.unlock();
      }
      lock.lock();
      loading_ = false;
    }
  }

  /// Loads a model and puts it in the place of the old one, which is freed unless requests use it.
  void load() {
    const auto begin = std::chrono::steady_clock::now();
    Model model = std::make_shared<const Served<P>>(load_());
    warm(model->predictor);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    const ModelFacts facts = model->facts;
    {
      const std::lock_guard lock{mutex_};
      present_.swap(model);
    }
    log_.info("Ready: " + facts.id,
              {{"model", facts.id}, {"dtype", facts.dtype}, {"seconds", time.count()}});
  }

  Load load_;
  log::Log log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Model present_;
  std::exception_ptr failure_;
  bool wanted_ = true;
  bool loading_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace seqtrain::serve
