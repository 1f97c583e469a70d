#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <ATen/Version.h>

#include <seqtrain/cli/places.hpp>
#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/dist.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/run_directory.hpp>
#include <seqtrain/train/same_run.hpp>

/// The processes that train together: started by torchrun or a cloud job with several machines,
/// else this one alone.
class Processes {
 public:
  /// Joins the other processes. Throws `InputError` if the environment or the flags do not allow
  /// it.
  Processes(const seqtrain::dist::World& world, const seqtrain::cli::TrainFlags& flags,
            c10::Device device)
      : group_{seqtrain::dist::Group::connect(
            world, {.interface = flags.dist_interface, .device = device})} {
    if (world.hosts > 1 && flags.checkpoint_dir.empty()) {
      throw seqtrain::InputError{"is needed with more than one machine",
                                 {.object = "--checkpoint-dir"},
                                 "name a gs:// address or a directory that all machines reach"};
    }
  }

  [[nodiscard]] seqtrain::dist::Group& group() { return group_; }

  /// Whether this is the process that writes files and logs.
  [[nodiscard]] bool is_first() const { return group_.rank() == 0; }

  /// Returns the flags with a directory that is the same for all processes. If the launcher has
  /// started this run before, its checkpoints are continued.
  [[nodiscard]] seqtrain::cli::TrainFlags in_one_directory(seqtrain::cli::TrainFlags flags,
                                                           const std::string& program) {
    if (group_.size() == 1 && !group_.world().under_torchrun()) return flags;
    const auto known =
        group_.remember("output_dir", [&] { return flags.run_directory(program).path.string(); });
    flags.output_dir = known.value;
    if (known.was_there && flags.resume == "never") flags.resume = "auto";
    return flags;
  }

  /// Returns the number of parts of a step: as the flag says, else as the run that is continued has
  /// them, else one for each process. The first process has the checkpoints, others pass null.
  [[nodiscard]] std::int64_t replicas(std::int64_t asked_for,
                                      seqtrain::cli::RunCheckpoints* checkpoints) {
    std::int64_t count = asked_for > 0 ? asked_for : group_.size();
    if (checkpoints != nullptr && asked_for == 0) {
      const auto saved = checkpoints->keeper().saved_settings();
      const std::string value = seqtrain::train::detail::value_of(saved, "replicas");
      if (!saved.empty()) count = value == "unset" ? 1 : std::stoll(value);
    }
    count = std::stoll(group_.broadcast(std::to_string(count)));
    if (checkpoints != nullptr) {
      // Empty for 1, so that checkpoints of runs without replicas fit.
      checkpoints->keeper().add_setting("replicas", count == 1 ? "" : std::to_string(count));
    }
    return count;
  }

  /// Throws `InputError` unless all processes have the same settings, program and processor.
  void check_equal(seqtrain::train::Pairs settings) {
    if (group_.size() == 1) return;
    settings.emplace_back("program", seqtrain::cli::fingerprint("/proc/self/exe"));
    settings.emplace_back("processor", at::get_cpu_capability());
    seqtrain::dist::check_equal(group_, settings);
  }

 private:
  seqtrain::dist::Group group_;
};
