#pragma once

#include <functional>
#include <string>

#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/checkpoint/with_checkpointer.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/checkpointer.hpp>

namespace seqtrain::checkpoint {

SEQTRAIN_SEPARATE sink::Directory local_copies(const train::CheckpointOptions& options,
                                               const std::string& store) {
  if (!options.directory.empty()) return sink::Directory{options.directory};
  const std::string name = Crc32c{}.update(store).hex();
  return sink::Directory{cache_directory() / "checkpoints" / name};
}

SEQTRAIN_SEPARATE void with_checkpoints(
    sink::Any& store, const train::CheckpointOptions& options,
    const std::function<void(const train::CheckpointerRef&)>& use) {
  const std::string name = store.name();
  if (name == sink::Discard::name()) {
    throw InputError{"keeps nothing, so it cannot keep checkpoints",
                     {.object = "sink::Discard"},
                     "give the trainer a sink::Directory or gcs::Sink"};
  }
  if (const auto* const directory = store.directory()) {
    Checkpoints checkpointer{*directory, nullptr, options};
    return use(train::CheckpointerRef{checkpointer});
  }
  Checkpoints checkpointer{local_copies(options, name), &store, options};
  use(train::CheckpointerRef{checkpointer});
}

}  // namespace seqtrain::checkpoint
