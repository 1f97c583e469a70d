#pragma once

#include <seqtrain/train/checkpoint_name.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/evaluate.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/find_learning_rate.hpp>
#include <seqtrain/train/fit.hpp>
#include <seqtrain/train/fits.hpp>
#include <seqtrain/train/gradients.hpp>
#include <seqtrain/train/options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/train/step_batches.hpp>
#include <seqtrain/train/stopped.hpp>
