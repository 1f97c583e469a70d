#pragma once

/// Includes the rooms that most programs need, for experiments. It leaves out `dist`,
/// `experiment`, `gcs`, `http`, `hub`, `kernels`, `parquet`, `serve` and `storage`. A program that
/// is compiled often includes only the rooms that it uses.

#include <seqtrain/baseline.hpp>
#include <seqtrain/checkpoint.hpp>
#include <seqtrain/cli.hpp>
#include <seqtrain/concepts.hpp>
#include <seqtrain/data.hpp>
#include <seqtrain/log.hpp>
#include <seqtrain/machine.hpp>
#include <seqtrain/metrics.hpp>
#include <seqtrain/model.hpp>
#include <seqtrain/optim.hpp>
#include <seqtrain/page.hpp>
#include <seqtrain/predict.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/run.hpp>
#include <seqtrain/sink.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>
#include <seqtrain/weights.hpp>
