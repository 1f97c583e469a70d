#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::checkpoint {

/// Returns the local directory for the checkpoints of a remote store.
[[nodiscard]] SEQTRAIN_SEPARATE sink::Directory local_copies(
    const train::CheckpointOptions& options, const std::string& store);

/// Calls `use` with a checkpointer of checkpoints in `store`. Throws `InputError` if the store is a
/// `Discard`.
SEQTRAIN_SEPARATE void with_checkpoints(
    sink::Any& store, const train::CheckpointOptions& options,
    const std::function<void(const train::CheckpointerRef&)>& use);

template <class K>
struct IsCheckpointer : std::bool_constant<train::Checkpointer<K>> {};

/// Calls `use` with the checkpointer of a fit: the checkpointer among its arguments, else
/// checkpoints in the sink if the options ask for them, else one that keeps nothing.
template <class M, class O, Sink S, class Use, class... Parts>
auto with_checkpointer(S& sink, const train::FitOptions& options, const Use& use, Parts&... parts) {
  if constexpr ((train::Checkpointer<std::remove_const_t<Parts>> || ...)) {
    return use(train::CheckpointerRef{train::find_part<IsCheckpointer>(parts...)});
  } else {
    if (!options.checkpoint.enabled()) return use(train::CheckpointerRef{});
    if constexpr (Store<S> && Checkpointable<M, O>) {
      train::CheckpointOptions checkpoint = options.checkpoint;
      if (!checkpoint.log) {
        checkpoint.log = [&](const train::Notice& notice) { train::notify(notice, parts...); };
      }
      std::optional<std::invoke_result_t<const Use&, const train::CheckpointerRef&>> result;
      auto store = sink::Any::refer_to(sink);
      with_checkpoints(store, checkpoint, [&](const train::CheckpointerRef& checkpointer) {
        result.emplace(use(checkpointer));
      });
      return *std::move(result);
    } else {
      constexpr const char* problem = Store<S>
                                          ? "needs a model with state_dict and load_state_dict, "
                                            "and an optimizer with state and load_state"
                                          : "needs a sink that can be read: a seqtrain::Store";
      throw InputError{problem, {.object = "fit", .field = "checkpoint"}};
    }
  }
}

}  // namespace seqtrain::checkpoint

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/checkpoint/src/with_checkpointer.hpp>
#endif
