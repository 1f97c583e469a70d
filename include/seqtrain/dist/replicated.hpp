#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/plan.hpp>
#include <seqtrain/dist/exchange.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/reduction.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/gradients.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::dist {

/// Options of `Replicated`.
struct ReplicatedOptions {
  /// The number of parts of a step. Their gradients are summed by one tree, so a run has equal bits
  /// on any number of processes from 1 to `replicas`.
  std::int64_t replicas = 1;
  std::int64_t accumulation = 1;  ///< batches in a part
  Reduction reduction = Reduction::exact;
  /// Stops this process only; all processes end at the same step through `Replicated::stop`.
  std::stop_token own_stop = {};
};

/// Returns the training batches that a process of a group computes, if a step has `replicas` parts
/// of `accumulation` batches each.
[[nodiscard]] inline data::Shard shard_of(const Group& group, std::int64_t replicas,
                                          std::int64_t accumulation) {
  const Leaves held = leaves_of(group.rank(), group.size(), replicas);
  return {replicas, accumulation, held.first, held.last};
}

/// The losses of a step's batches, which may be on a device.
class StepLosses {
 public:
  StepLosses(at::Tensor losses, std::vector<double> shares)
      : losses_{std::move(losses)}, shares_{std::move(shares)} {}

  /// Returns the mean loss of the step. Waits if the losses are on a device.
  [[nodiscard]] double value() const {
    const at::Tensor losses = losses_.cpu();
    double sum = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      sum += shares_[i] * static_cast<double>(losses.const_data_ptr<float>()[i]);
    }
    return sum;
  }

 private:
  at::Tensor losses_;
  std::vector<double> shares_;
};

/// A model that is copied to every process of a group. Each process computes its part of a step and
/// of an evaluation. Afterwards all processes have the gradients of the whole step and the logits
/// or losses of all batches, so the trainer runs the same loop with equal values in each.
///
/// The loader of `shard()` describes the batches of other processes: they have labels but no
/// tokens.
template <class M>
requires Classifier<M> || ScoredByLoss<M>
class Replicated {
 public:
  using batch_type = typename M::batch_type;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = typename M::loss_type;

  /// The group must outlive this object. Throws `InputError` if the group has more processes than
  /// `replicas`.
  Replicated(M model, Group& group, ReplicatedOptions options)
      : model_{std::move(model)},
        group_{&group},
        options_{std::move(options)},
        exchange_{group, options_.replicas, options_.reduction} {
    if (group.size() > options_.replicas) {
      throw InputError{std::to_string(group.size()) + " processes cannot share " +
                           std::to_string(options_.replicas) + " replicas",
                       {.object = "replicas"},
                       "start at most as many processes, or begin a run with more replicas"};
    }
  }

  /// Returns the training batches that this process computes.
  [[nodiscard]] data::Shard shard() const {
    return shard_of(*group_, options_.replicas, options_.accumulation);
  }

  /// Returns the batches of an evaluation that this process computes, i.e. every n-th one.
  [[nodiscard]] data::Shard evaluation_shard() const {
    return {group_->size(), 1, group_->rank(), group_->rank() + 1};
  }

  /// Returns a stop token that is set in all processes after the same step, once any process is
  /// asked to stop.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  /// Adds the gradients of a whole step on all processes.
  StepLosses accumulate_step(std::span<const batch_type> batches) {
    std::vector<double> shares;
    double whole = 0;
    for (const auto& batch : batches) whole += shares.emplace_back(train::weight_of(model_, batch));
    for (double& share : shares) share /= whole;
    const auto count = static_cast<std::int64_t>(batches.size());
    const at::Tensor losses = at::zeros({count}, options_of_losses());
    const Step step{batches, shares, losses};
    const std::int64_t parts = (count + options_.accumulation - 1) / options_.accumulation;
    std::vector<GradientCopy> before;
    bool begun = group_->size() == 1;
    const auto begin_exchange = [&] {
      if (!std::exchange(begun, true)) exchange_.begin({parameters(), before, losses}, parts);
    };
    const auto subtrees = largest_subtrees({0, parts}, held());
    try {
      for (const Leaves& subtree : subtrees) {
        if (subtree != subtrees.front()) before.push_back(take_gradients());
        // The gradients of a part with one batch can be sent while they are computed.
        const bool last = subtree == subtrees.back() && subtree.size() == 1;
        accumulate_tree(subtree, step, last ? begin_exchange : Begin{});
      }
      begin_exchange();
    } catch (const std::exception& error) {
      exchange_.abandon(error.what());
      throw;
    }
    const bool asked = options_.own_stop.stop_requested();
    if (group_->size() == 1 ? asked : exchange_.finish(asked)) stop_.request_stop();
    for (GradientCopy& copy : before) give_back(std::move(copy));
    return {losses, std::move(shares)};
  }

  /// Tells whether any of the processes says so. All of them call it together.
  [[nodiscard]] bool any_process(bool says_so) {
    if (group_->size() == 1) return says_so;
    const auto all = group_->all_gather(std::string{says_so ? '\1' : '\0'});
    return std::ranges::any_of(all, [](const std::string& each) { return each == "\1"; });
  }

  /// Returns the number of batches to pass to `logits_of` at once.
  [[nodiscard]] std::int64_t logits_window() const requires Classifier<M> {
    return evaluation_window();
  }

  /// Returns the logits of consecutive batches of an evaluation.
  std::vector<metrics::Logits> logits_of(std::span<const batch_type> batches)  //
      requires Classifier<M> {
    std::vector<metrics::Logits> result(batches.size());
    share(
        batches,
        [&](std::size_t i) {
          const metrics::Logits& logits = result[i] = model_.logits(batches[i]);
          return bytes_of(std::span{logits.data(), static_cast<std::size_t>(logits.size())});
        },
        [&](std::size_t i, std::string_view bytes) {
          const auto rows = batches[i].rows;
          const auto columns = static_cast<Eigen::Index>(bytes.size() / sizeof(float)) / rows;
          result[i].resize(rows, columns);
          std::memcpy(result[i].data(), bytes.data(), bytes.size());
        });
    return result;
  }

  /// Returns the number of batches to pass to `losses_of` at once.
  [[nodiscard]] std::int64_t losses_window() const requires ScoredByLoss<M> {
    return evaluation_window();
  }

  /// Returns the losses of the rows of consecutive batches of an evaluation.
  std::vector<metrics::RowLosses> losses_of(std::span<const batch_type> batches)  //
      requires ScoredByLoss<M> {
    std::vector<metrics::RowLosses> result(batches.size());
    share(
        batches,
        [&](std::size_t i) {
          const auto& [losses, weights] = result[i] =
              train::checked_losses(model_.losses(batches[i]), batches[i]);
          return bytes_of(std::span{losses}) + bytes_of(std::span{weights});
        },
        [&](std::size_t i, std::string_view bytes) {
          for (auto* const numbers : {&result[i].losses, &result[i].weights}) {
            numbers->resize(static_cast<std::size_t>(batches[i].rows));
            const std::size_t size = numbers->size() * sizeof(double);
            std::memcpy(numbers->data(), bytes.data(), size);
            bytes.remove_prefix(size);
          }
        });
    return result;
  }

  loss_type accumulate(const batch_type& batch, double weight) {
    return model_.accumulate(batch, weight);
  }
  metrics::Logits logits(const batch_type& batch) requires Classifier<M> {
    return model_.logits(batch);
  }
  metrics::RowLosses losses(const batch_type& batch) requires ScoredByLoss<M> {
    return model_.losses(batch);
  }
  [[nodiscard]] double weight_of(const batch_type& batch) const {
    return train::weight_of(model_, batch);
  }
  [[nodiscard]] auto losses(const output_type& logits, const batch_type& batch) const  //
      requires train::TellsLosses<M> {
    return model_.losses(logits, batch);
  }
  [[nodiscard]] std::vector<std::string> label_names() const requires requires(const M& model) {
    model.label_names();
  }
  { return model_.label_names(); }
  [[nodiscard]] ProblemType problem_type() const requires requires(const M& model) {
    model.problem_type();
  }
  { return model_.problem_type(); }
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const {
    return model_.parameters();
  }
  [[nodiscard]] tensor::StateDict state_dict() const { return model_.state_dict(); }
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    model_.load_state_dict(tensors);
  }

  /// Returns this process's copy of the model.
  [[nodiscard]] M& model() { return model_; }
  [[nodiscard]] const M& model() const { return model_; }

 private:
  struct Step {
    std::span<const batch_type> batches;
    std::span<const double> shares;
    at::Tensor losses;
  };

  [[nodiscard]] Leaves held() const {
    return leaves_of(group_->rank(), group_->size(), options_.replicas);
  }

  [[nodiscard]] at::TensorOptions options_of_losses() const {
    return parameters().front().value.options().dtype(at::kFloat).requires_grad(false);
  }

  using Begin = std::function<void()>;

  /// Adds a node's gradients to those of the parameters, which must be zero. Calls `begin_exchange`
  /// before the last batch and then tells the exchange which gradients are complete.
  void accumulate_tree(const Leaves& node, const Step& step, const Begin& begin_exchange = {}) {
    if (node.size() == 1) {
      const auto begin = static_cast<std::size_t>(node.first * options_.accumulation);
      const auto end =
          std::min(begin + static_cast<std::size_t>(options_.accumulation), step.batches.size());
      for (std::size_t i = begin; i < end; ++i) {
        const bool last = i + 1 == end && begin_exchange;
        if (last) begin_exchange();
        const auto loss = accumulate_batch(step.batches[i], step.shares[i], last);
        step.losses.select(0, static_cast<std::int64_t>(i)).copy_(loss.tensor());
      }
      return;
    }
    const auto [left, right] = node.children();
    accumulate_tree(left, step);
    GradientCopy sum = take_gradients();
    accumulate_tree(right, step);
    sum.add_to(parameters());
    give_back(std::move(sum));
  }

  /// Computes the gradients of a batch. If `tells` is set and the model reports complete gradients,
  /// they are passed on to the exchange.
  loss_type accumulate_batch(const batch_type& batch, double weight, bool tells) {
    if constexpr (requires { model_.accumulate(batch, weight, [](std::size_t) {}); }) {
      if (tells && group_->size() > 1) {
        return model_.accumulate(batch, weight,
                                 [this](std::size_t first) { exchange_.ready(first); });
      }
    }
    return model_.accumulate(batch, weight);
  }

  // Copies are reused because their memory is large.
  GradientCopy take_gradients() {
    const auto one_thread = alone();
    GradientCopy copy;
    if (!free_.empty()) {
      copy = std::move(free_.back());
      free_.pop_back();
    }
    copy.take(parameters());
    return copy;
  }
  void give_back(GradientCopy copy) { free_.push_back(std::move(copy)); }

  /// Limits torch to one thread on a CPU, where its threads would compete with those of the model.
  [[nodiscard]] std::optional<tensor::OneThread> alone() const {
    if (!options_of_losses().device().is_cpu()) return {};
    return std::optional<tensor::OneThread>{std::in_place};
  }

  [[nodiscard]] std::int64_t evaluation_window() const {
    return group_->size() == 1 ? 1 : 8 * group_->size();
  }

  template <class Number>
  static std::string bytes_of(std::span<const Number> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
  }

  /// Computes each of the batches in one process and tells all what it is. `compute(i)` returns the
  /// bytes of a batch, as many for each of its rows. `read(i, bytes)` gets those that another
  /// process has computed.
  template <class Compute, class Read>
  void share(std::span<const batch_type> batches, const Compute& compute, const Read& read) {
    const data::Shard own = evaluation_shard();
    std::string message{options_.own_stop.stop_requested() ? '\1' : '\0'};
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (own.owns(batches[i].index)) message += compute(i);
    }
    const auto messages = group_->all_gather(message);
    for (const std::string& each : messages) {
      if (each.starts_with('\1')) stop_.request_stop();
    }
    for (std::int64_t rank = 0; rank < group_->size(); ++rank) {
      if (rank != group_->rank()) {
        read_message(messages[static_cast<std::size_t>(rank)], rank, batches, read);
      }
    }
  }

  /// Calls `read` with the bytes of each batch of a rank.
  template <class Read>
  void read_message(std::string_view message, std::int64_t rank,
                    std::span<const batch_type> batches, const Read& read) const {
    const data::Shard shard{group_->size(), 1, rank, rank + 1};
    std::size_t rows = 0;
    for (const auto& batch : batches) {
      if (shard.owns(batch.index)) rows += static_cast<std::size_t>(batch.rows);
    }
    if (rows == 0) return;
    message.remove_prefix(1);
    if (message.size() % rows != 0) throw Error{"a short message from another process"};
    const std::size_t of_row = message.size() / rows;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (!shard.owns(batches[i].index)) continue;
      const std::size_t size = of_row * static_cast<std::size_t>(batches[i].rows);
      read(i, message.substr(0, size));
      message.remove_prefix(size);
    }
  }

  M model_;
  Group* group_;
  ReplicatedOptions options_;
  Exchange exchange_;
  std::stop_source stop_;
  std::vector<GradientCopy> free_;
};

}  // namespace seqtrain::dist
