#pragma once

#include <seqtrain/parquet/cells.hpp>
#include <seqtrain/parquet/file.hpp>
#include <seqtrain/parquet/is_parquet.hpp>
#include <seqtrain/parquet/row_group.hpp>
#include <seqtrain/parquet/split.hpp>
#include <seqtrain/parquet/status.hpp>
