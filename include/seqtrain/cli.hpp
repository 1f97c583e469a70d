#pragma once

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
