#pragma once

#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/results.hpp>
#include <seqtrain/train/run_directory.hpp>
#include <seqtrain/train/save_run.hpp>
