#pragma once

#include <seqtrain/metrics/bootstrap.hpp>
#include <seqtrain/metrics/calibration.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/evaluation.hpp>
#include <seqtrain/metrics/label_errors.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/metrics/precision_recall.hpp>
#include <seqtrain/metrics/regression.hpp>
#include <seqtrain/metrics/roc_auc.hpp>
#include <seqtrain/metrics/stability_index.hpp>
