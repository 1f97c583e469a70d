#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <type_traits>

#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/keeper.hpp>
#include <seqtrain/train/options.hpp>

namespace seqtrain::checkpoint {

/// Checkpoints on this machine and optionally in a remote store.
using Checkpoints = BasicCheckpoints<sink::Directory, sink::Any>;

/// Returns the local directory for the checkpoints of a remote store.
inline sink::Directory local_copies(const train::CheckpointOptions& options,
                                    const std::string& store) {
  if (!options.directory.empty()) return sink::Directory{options.directory};
  char name[16];
  std::snprintf(name, sizeof name, "%08x", static_cast<unsigned>(Crc32c{}.update(store).value()));
  return sink::Directory{cache_directory() / "checkpoints" / name};
}

/// Calls `use` with a keeper of checkpoints in `store`. Throws `InputError` if the store is a
/// `Discard`.
template <Store S, class Use>
auto with_checkpoints(S& store, const train::CheckpointOptions& options, const Use& use) {
  const std::string name = store.name();
  if (name == sink::Discard::name()) {
    throw InputError{"keeps nothing, so it cannot keep checkpoints",
                     {.object = "sink::Discard"},
                     "give the trainer a sink::Directory or gcs::Sink"};
  }
  const sink::Directory* directory = nullptr;
  if constexpr (std::same_as<S, sink::Directory>) directory = &store;
  if constexpr (std::same_as<S, sink::Any>) directory = store.directory();
  if (directory != nullptr) {
    Checkpoints keeper{*directory, nullptr, options};
    return use(train::KeeperRef{keeper});
  }
  BasicCheckpoints<sink::Directory, S> keeper{local_copies(options, name), &store, options};
  return use(train::KeeperRef{keeper});
}

template <class K>
struct IsKeeper : std::bool_constant<train::Keeper<K>> {};

/// Calls `use` with the keeper of a fit: the keeper among its arguments, else checkpoints in the
/// sink if the options ask for them, else one that keeps nothing.
template <class M, class O, Sink S, class Use, class... Parts>
auto with_keeper(S& sink, const train::FitOptions& options, const Use& use, Parts&... parts) {
  if constexpr ((train::Keeper<std::remove_const_t<Parts>> || ...)) {
    return use(train::KeeperRef{train::find_part<IsKeeper>(parts...)});
  } else {
    if (!options.checkpoint.enabled()) return use(train::KeeperRef{});
    if constexpr (Store<S> && Checkpointable<M, O>) {
      train::CheckpointOptions checkpoint = options.checkpoint;
      if (!checkpoint.log) {
        checkpoint.log = [&](const train::Notice& notice) { train::notify(notice, parts...); };
      }
      return with_checkpoints(sink, checkpoint, use);
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
