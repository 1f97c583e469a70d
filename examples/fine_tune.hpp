#pragma once

#include <string>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/log/log.hpp>

/// Fine-tunes a classifier as the flags say and saves the run in its directory. `parser` has parsed
/// the flags. With `--few-shot`, flags that are not given get other defaults.
void fine_tune(const seqtrain::log::Log& log, const std::string& program,
               seqtrain::cli::TrainFlags& flags, seqtrain::cli::Flags& parser);
