#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/Version.h>
#include <c10/core/Device.h>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/experiment/check_equal.hpp>
#include <seqtrain/experiment/run_checkpoints.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/model/packed/norm_on_device.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/tensor/device_kernel.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

/// The processes that train together: those that torchrun or a cloud job with several machines has
/// started, or only this one.
class Processes {
 public:
  /// Joins the other processes. Throws `InputError` if the environment or the flags do not allow
  /// it.
  Processes(const dist::World& world, const cli::TrainFlags& flags, c10::Device device)
      : group_{dist::Group::connect(world, {.interface = flags.dist_interface, .device = device})},
        device_{device} {
    if (world.hosts > 1 && flags.checkpoint_dir.empty()) {
      throw InputError{
          "is needed with more than one machine",
          {.object = "--checkpoint-dir"},
          "name an address such as gs://bucket/path, or a directory that all machines reach"};
    }
  }

  [[nodiscard]] dist::Group& group() { return group_; }

  /// Tells whether this is the process that writes files and logs.
  [[nodiscard]] bool is_first() const { return group_.rank() == 0; }

  /// Returns the flags with one directory for all processes. If the launcher restarts a run, its
  /// checkpoints are continued.
  [[nodiscard]] cli::TrainFlags in_one_directory(cli::TrainFlags flags,
                                                 const std::string& program) {
    if (group_.size() == 1 && !group_.world().under_torchrun()) return flags;
    const auto known =
        group_.remember("output_dir", [&] { return flags.run_directory(program).path.string(); });
    flags.output_dir = known.value;
    if (known.was_there && flags.begins_anew()) flags.resume = "auto";
    return flags;
  }

  /// Returns the number of parts of a step: the flag's value; else the number in the checkpoint
  /// that is resumed; else one for each process. The first process passes its checkpoints, the
  /// others null.
  [[nodiscard]] std::int64_t replicas(std::int64_t asked_for, RunCheckpoints* checkpoints) {
    std::int64_t count = asked_for > 0 ? asked_for : group_.size();
    if (checkpoints != nullptr && asked_for == 0) {
      const auto saved = checkpoints->checkpointer().saved_settings();
      const std::string value = train::value_in(saved, "replicas");
      if (!saved.empty()) count = value.empty() ? 1 : std::stoll(value);
    }
    count = std::stoll(group_.broadcast(std::to_string(count)));
    if (checkpoints != nullptr) {
      // An empty setting stands for 1.
      checkpoints->checkpointer().add_setting("replicas", count == 1 ? "" : std::to_string(count));
    }
    return count;
  }

  /// Encodes a file once on each machine, into a file that the machine's processes share. A single
  /// process encodes a file of at most 512 MiB into memory. Passes on the exceptions of `encode`.
  template <class Encode>
  [[nodiscard]] data::EncodedFile encode_once(Encode& encode, const std::string& file,
                                              double fraction = 1) {
    const bool is_large = encode.bytes_of(file) > std::uintmax_t{512} << 20;
    if (group_.size() == 1 && !is_large) return encode(file, fraction);
    const auto& world = group_.world();
    const std::string name = group_.broadcast(random_token());
    const auto place =
        cache_directory() / "encoded" / (name + "-" + std::to_string(world.host) + ".bin");
    in_turn(world.local_rank == 0, [&] {
      std::filesystem::create_directories(place.parent_path());
      (void)encode(file, fraction, place);
    });
    auto encoded = encode.open(place);
    group_.barrier();
    if (world.local_rank == 0) std::filesystem::remove(place);  // the processes keep it open
    return encoded;
  }

  /// Returns the bytes that `work` returns on the first process, on all of them. If it throws, all
  /// throw an error.
  template <class Work>
  [[nodiscard]] std::string once(const Work& work) {
    std::string bytes;
    in_turn(is_first(), [&] { bytes = work(); });
    return group_.broadcast(std::move(bytes));
  }

  /// Throws `InputError` unless all processes have the same settings, program, processor and
  /// kernels of our own, which round in other places than operators and which a machine may lack.
  void check_equal(train::Pairs settings) {
    if (group_.size() == 1) return;
    settings.emplace_back("program", fingerprint("/proc/self/exe"));
    settings.emplace_back("processor", at::get_cpu_capability());
    settings.emplace_back(tensor::kernels_variable,
                          process_environment(tensor::kernels_variable).value_or(""));
    settings.emplace_back("steps of Adam by",
                          optim::AdamOnDevice::make(device_, {}) ? "own kernels" : "operators");
    settings.emplace_back("layer norms by", model::packed::NormOnDevice::make(device_, {})
                                                ? "own kernels"
                                                : "operators");
    experiment::check_equal(group_, settings);
  }

  /// Calls `work`. If it throws an error, the other processes end with that error too.
  template <class Work>
  void tell_errors(const Work& work) {
    try {
      work();
    } catch (const train::Stopped&) {
      throw;  // on all processes
    } catch (const std::exception& error) {
      group_.fail_note(error.what());
      throw;
    }
  }

 private:
  static constexpr std::string_view stop_mark = "\x01stopped: ";  // of what is gathered

  /// Calls `work` on the processes whose `mine` is true and waits for them on all processes. If it
  /// throws on one, all throw an error.
  template <class Work>
  void in_turn(bool mine, const Work& work) {
    std::exception_ptr error;
    std::string problem;
    try {
      if (mine) work();
    } catch (const train::Stopped& stopped) {
      error = std::current_exception();
      problem = std::string{stop_mark} + stopped.what();
    } catch (const std::exception& thrown) {
      error = std::current_exception();
      problem = thrown.what();
    }
    const auto problems = group_.all_gather(problem);
    if (error) std::rethrow_exception(error);
    for (std::size_t rank = 0; rank < problems.size(); ++rank) {
      if (problems[rank].empty()) continue;
      if (problems[rank].starts_with(stop_mark)) {
        throw train::Stopped{problems[rank].substr(stop_mark.size())};
      }
      throw InputError{problems[rank], {.object = "rank " + std::to_string(rank)}};
    }
  }

  dist::Group group_;
  c10::Device device_;
};

}  // namespace seqtrain::experiment
