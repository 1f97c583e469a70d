#pragma once

#include <seqtrain/run/advice.hpp>
#include <seqtrain/run/calibrate.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/run/fit_figures.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/label_errors.hpp>
#include <seqtrain/run/model_card.hpp>
#include <seqtrain/run/model_files.hpp>
#include <seqtrain/run/predictions.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/save_run.hpp>
#include <seqtrain/run/trials.hpp>
#include <seqtrain/run/tuning.hpp>
