#pragma once

// Defines the functions of all rooms but cli and experiment that are compiled separately: see
// core/separate_compilation.hpp. A program of experiment includes experiment/src.hpp too.
#include <seqtrain/baseline/src.hpp>
#include <seqtrain/checkpoint/src.hpp>
#include <seqtrain/core/src.hpp>
#include <seqtrain/data/src.hpp>
#include <seqtrain/dist/src.hpp>
#include <seqtrain/http/src.hpp>
#include <seqtrain/log/src.hpp>
#include <seqtrain/metrics/src.hpp>
#include <seqtrain/model/src.hpp>
#include <seqtrain/optim/src.hpp>
#include <seqtrain/predict/src.hpp>
#include <seqtrain/report/src.hpp>
#include <seqtrain/storage/src.hpp>
#include <seqtrain/tensor/src.hpp>
#include <seqtrain/text/src.hpp>
#include <seqtrain/train/src.hpp>
