#pragma once

#include <seqtrain/report/bar.hpp>
#include <seqtrain/report/cadence.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/format.hpp>
#include <seqtrain/report/json_lines.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/report/notices.hpp>
#include <seqtrain/report/pace.hpp>
#include <seqtrain/report/progress_bar.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/report/terminal.hpp>
#include <seqtrain/report/throughput.hpp>
