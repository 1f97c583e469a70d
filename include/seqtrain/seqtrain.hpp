#pragma once

/// Includes what most programs need that train or predict. It leaves out the rooms of whole
/// programs, which `experiment.hpp` includes as far as an experiment of one's own needs them
/// (`baseline`, `cli`, `experiment`, `log`, `machine`, `page`, `run`), and `checkpoint`, `dist`,
/// `gcs`, `http`, `hub`, `kernels`, `parquet`, `serve`, `storage` and `weights`. It has the
/// classifiers of `model` that are loaded by name, not their families and not AWD-LSTM.

#include <seqtrain/concepts.hpp>
#include <seqtrain/data.hpp>
#include <seqtrain/metrics.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/make_loss.hpp>
#include <seqtrain/model/nn_module.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/optim.hpp>
#include <seqtrain/predict.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/sink.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>
