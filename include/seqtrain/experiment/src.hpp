#pragma once

// Defines the functions of this room and of cli that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/cli/src.hpp>
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/experiment/src/program.hpp>
#include <seqtrain/experiment/src/run.hpp>
#include <seqtrain/experiment/src/teacher.hpp>
#include <seqtrain/experiment/src/watch.hpp>
