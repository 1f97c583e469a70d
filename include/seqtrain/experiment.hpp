#pragma once

#include <seqtrain/experiment/program.hpp>
#include <seqtrain/experiment/run.hpp>
#include <seqtrain/tensor/operators.hpp>
