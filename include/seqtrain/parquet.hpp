#pragma once

#include <seqtrain/parquet/is_parquet.hpp>
#include <seqtrain/parquet/split.hpp>
