#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/environment.hpp>

namespace seqtrain::cli {

/// Returns the number of processor cores for each process on this machine, at least 1.
[[nodiscard]] inline std::int64_t default_threads() {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return std::max<std::int64_t>(1, cores / local_processes());
}

/// The flags about the machine and the processes that share a run.
struct MachineFlags {
  std::string device = "auto";
  std::string precision = "auto";
  bool deterministic = false;
  std::int64_t threads = default_threads();
  std::int64_t dataloader_num_workers = 1;
  std::int64_t replicas = 0;
  std::string reduction = "exact";
  std::string dist_interface = "";

  /// Adds the flags as a section of the help.
  void add_to(Flags& flags) {
    flags.section("Machine")
        .add("device", device, device_help)
        .add("precision", precision, "fp32, bf16, fp16 (on a GPU) or " + auto_precision)
        .add_switch("deterministic", deterministic, deterministic_help)
        .add("threads", threads,
             "threads that compute (default: the machine's cores divided by its processes)")
        .add("dataloader-num-workers", dataloader_num_workers, "threads that prepare batches")
        .add("replicas", replicas,
             "parts of a step, each of --batch-size examples; any number of processes up to this "
             "gives equal results (0: the number of processes, or the checkpoint's replicas)")
        .add("reduction", reduction,
             "how gradients of processes are summed: exact (bits do not depend on the number of "
             "processes) or ring (the communication library's all-reduce)")
        .add("dist-interface", dist_interface,
             "network interface or address that the other processes connect to (default: the one "
             "with the route to rank 0)");
  }

  /// Throws an `InputError` that names the flag if a value is out of range.
  void validate() const {
    const bool narrow = precision == "bf16" || precision == "fp16";
    require(precision == "auto" || precision == "fp32" || narrow, "precision",
            "'" + precision + "' is unknown: use auto, fp32, bf16 or fp16");
    require(threads >= 1, "threads", "must be at least 1");
    require(dataloader_num_workers >= 0, "dataloader-num-workers", "must not be negative");
    require(replicas >= 0, "replicas", "must not be negative");
    require(reduction == "exact" || reduction == "ring", "reduction",
            "is unknown: use exact or ring");
  }
};

}  // namespace seqtrain::cli
