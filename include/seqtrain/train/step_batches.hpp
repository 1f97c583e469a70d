#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/concepts/policies.hpp>

namespace seqtrain::train {

/// Gathers the batches of an epoch into steps of `size` batches each; the last step of an epoch may
/// have fewer.
template <class B>
class StepBatches {
 public:
  /// Starts in an epoch of `of` batches after the first `done` ones.
  StepBatches(std::int64_t size, std::int64_t done, std::int64_t of)
      : size_{size}, done_{done}, of_{of} {}

  /// Adds a batch. Returns whether the step is complete; `batches` then returns its batches until
  /// the next call.
  bool add(const B& batch) {
    ++done_;
    if (size_ == 1) {  // no copy
      batches_ = {&batch, 1};
      return true;
    }
    if (complete_) copies_.clear();
    copies_.push_back(batch);
    batches_ = copies_;
    complete_ = done_ % size_ == 0 || done_ == of_;
    return complete_;
  }

  [[nodiscard]] std::span<const B> batches() const { return batches_; }

 private:
  std::int64_t size_;
  std::int64_t done_;
  std::int64_t of_;
  std::vector<B> copies_;
  std::span<const B> batches_;
  bool complete_ = false;
};

/// Calls `use` with the batches of an epoch from the batch `first` on, until it returns false. If
/// the loader cannot start there, it makes the earlier batches too, which are skipped.
template <Loader L, class Use>
void for_each_batch(L& loader, std::int64_t epoch, std::int64_t first, const Use& use) {
  using B = typename L::batch_type;
  if constexpr (requires { loader.epoch(epoch, first); }) {
    for (const B& batch : loader.epoch(epoch, first)) {
      if (!use(batch)) return;
    }
  } else {
    std::int64_t index = 0;
    for (const B& batch : loader.epoch(epoch)) {
      if (index++ >= first && !use(batch)) return;
    }
  }
}

/// Visits the tensors of the model and of the optimizer after a call of `settle`. A device gets all
/// copies to do before the first wait, which is the only one.
template <class M, class O, class Visit, class Settle>
void visit_states(M& model, O& optimizer, const Visit& visit, const Settle& settle) {
  const auto& of_model = model.state_dict();
  const auto& of_optimizer = optimizer.state();
  const auto& tensors = of_model.views();
  settle();
  visit("model", tensors);
  visit("optimizer", of_optimizer.views());
}

/// Exchanges the parameters with the averages that the optimizer keeps, if it keeps any.
template <class O, class M>
void exchange_averages(O& optimizer, M& model) {
  if constexpr (requires { optimizer.exchange_averages(model.parameters()); }) {
    optimizer.exchange_averages(model.parameters());
  }
}

/// Calls `work` while the model has the averages that the optimizer keeps, if it keeps any.
template <class O, class M, class Work>
void with_averages(O& optimizer, M& model, const Work& work) {
  exchange_averages(optimizer, model);
  try {
    work();
  } catch (...) {
    exchange_averages(optimizer, model);
    throw;
  }
  exchange_averages(optimizer, model);
}

}  // namespace seqtrain::train
