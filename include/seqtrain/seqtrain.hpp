#pragma once

/// Includes what most programs need that train or predict. Of the rooms `data`, `text`, `metrics`,
/// `model`, `optim`, `predict` and `report` it has what a program calls, and not what only the
/// library's own functions are made of; `data.hpp`, `text.hpp` and so on have all of a room. It
/// leaves out the rooms of whole programs, which `experiment.hpp` includes as far as an experiment
/// of one's own needs them (`baseline`, `cli`, `experiment`, `log`, `machine`, `page`, `run`), and
/// `checkpoint`, `dist`, `gcs`, `http`, `hub`, `kernels`, `parquet`, `serve`, `storage` and
/// `weights`. It has the classifiers of `model` that are loaded by name, not their families and not
/// AWD-LSTM.

#include <seqtrain/concepts.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/plan.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/json_lines.hpp>
#include <seqtrain/report/progress_bar.hpp>
#include <seqtrain/sink.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/train.hpp>
#include <seqtrain/trainer.hpp>
