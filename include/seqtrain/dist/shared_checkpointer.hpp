#pragma once

#include <optional>
#include <string>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/train/checkpointer.hpp>

namespace seqtrain::dist {

/// A `train::Checkpointer` for training on several processes. Only rank 0 saves. It sends what it
/// restores to the others, so only rank 0 must reach the checkpoints.
class SharedCheckpointer {
 public:
  /// `checkpointer` is the checkpointer of rank 0; other ranks pass null. Both arguments must
  /// outlive this object.
  template <train::Checkpointer K>
  SharedCheckpointer(Group& group, K* checkpointer)
      : group_{&group},
        checkpointer_{checkpointer ? train::CheckpointerRef{*checkpointer}
                                   : train::CheckpointerRef{}} {}

  /// Returns rank 0's saved fit. Rank 0 throws the error of its checkpointer; the other ranks throw
  /// an `InputError` that repeats it.
  std::optional<train::SavedFit> restore(const train::FitPlan& plan) {
    if (group_->size() == 1) return checkpointer_.restore(plan);
    return group_->rank() == 0 ? send(plan) : receive();
  }

  void save(train::Moment moment, const train::FitView& fit) { checkpointer_.save(moment, fit); }

  [[nodiscard]] std::string problem() const { return checkpointer_.problem(); }

 private:
  std::optional<train::SavedFit> send(const train::FitPlan& plan);
  std::optional<train::SavedFit> receive();

  Group* group_;
  train::CheckpointerRef checkpointer_;
};

}  // namespace seqtrain::dist

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/dist/src/shared_checkpointer.hpp>
#endif
