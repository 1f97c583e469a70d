#pragma once

#include <seqtrain/parquet/split.hpp>
#include <seqtrain/parquet/table_writer.hpp>
