#pragma once

#include <seqtrain/parquet/split.hpp>
