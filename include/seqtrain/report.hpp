#pragma once

#include <seqtrain/report/baseline.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/json_lines.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/report/pace.hpp>
#include <seqtrain/report/progress_bar.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/report/tensorboard.hpp>
#include <seqtrain/report/trials.hpp>
#include <seqtrain/report/tuning.hpp>
