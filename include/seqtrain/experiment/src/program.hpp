#pragma once

#include <functional>
#include <string>
#include <utility>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/experiment/cross_validate.hpp>
#include <seqtrain/experiment/few_shot.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/processes.hpp>
#include <seqtrain/experiment/program.hpp>
#include <seqtrain/experiment/run.hpp>
#include <seqtrain/experiment/several_runs.hpp>
#include <seqtrain/experiment/tune.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

namespace detail {

/// Joins the other processes, prepares a run and calls `body(run)`.
inline void train(const ProgramOptions& options, cli::TrainFlags& flags, cli::Flags& parser,
                  log::Log& log, const std::function<void(Run&)>& body) {
  const auto world = dist::World::from_environment();
  log.set_rank(world.rank);
  log.info(cli::CloudJob::from_environment().describe());
  if ((flags.folds > 0 || flags.tune > 0) && (world.size > 1 || world.under_torchrun())) {
    throw InputError{"is for a single process",
                     {.object = flags.folds > 0 ? "--folds" : "--tune"},
                     "start it without torchrun"};
  }
  const auto device = tensor::use_machine(flags.device, flags.threads, world.local_rank);
  if (flags.deterministic) tensor::use_deterministic_operators(device);
  Processes processes{world, flags, device};
  if (processes.group().through_host()) {
    log.warning(
        "The GPUs exchange gradients through the processor's memory, which is slower than "
        "NCCL: libseqtrain_nccl.so cannot be loaded");
  }
  std::string place, directory;  // of the run, and of several together
  try {
    processes.tell_errors([&] {
      const storage::Options storages{.log = log, .schemes = options.schemes};
      SeriesSignals* series = nullptr;
      const auto train_one = [&](const cli::TrainFlags& given) {
        const Program program{.log = log,
                              .storages = storages,
                              .name = options.name,
                              .given = given,
                              .parser = parser,
                              .processes = processes,
                              .device = device,
                              .head = options.head,
                              .place = place,
                              .series = series};
        Run run{program};
        body(run);
        run.check_fitted();
      };
      if (flags.tune > 0) {
        Tuning tune{flags, parser, options.name, options.head.has_value(), storages};
        directory = tune.directory().string();
        series = &tune.signals();
        return tune(train_one);
      }
      if (flags.folds == 0) return train_one(flags);
      CrossValidation cross_validate{flags, parser, options.name, storages};
      directory = cross_validate.directory().string();
      series = &cross_validate.signals();
      cross_validate(train_one);
    });
  } catch (const train::Stopped&) {
    log.info("To continue this run: the same flags with --output-dir " +
             (directory.empty() ? place : directory) + " --resume auto");
    throw;
  }
}

}  // namespace detail

SEQTRAIN_SEPARATE int run(int argc, char** argv, ProgramOptions options,
                          const std::function<void(Run&)>& body) {
  return cli::run([&](log::Log& log) {
    cli::TrainFlags flags = std::move(options.defaults);
    flags.scored_by_loss = options.scored_by_loss;
    flags.texts_apart = options.texts_apart;
    flags.reads = options.reads;
    cli::Flags parser{options.name, options.purpose, log};
    if (options.add_flags) {
      parser.section("Flags of " + options.name).role(cli::determines_results);
      options.add_flags(parser);
    }
    if (!flags.parse(parser, argc, argv)) return;
    few_shot::take_flags(flags, parser);
    detail::train(options, flags, parser, log, body);
  });
}

}  // namespace seqtrain::experiment
