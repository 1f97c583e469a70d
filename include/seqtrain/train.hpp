#pragma once

#include <seqtrain/train/checkpoint.hpp>
#include <seqtrain/train/checkpoint_directory.hpp>
#include <seqtrain/train/checkpoint_mirror.hpp>
#include <seqtrain/train/checkpoints.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/results.hpp>
#include <seqtrain/train/rows.hpp>
#include <seqtrain/train/run_directory.hpp>
#include <seqtrain/train/save_run.hpp>
#include <seqtrain/train/state.hpp>
#include <seqtrain/train/stopped.hpp>
