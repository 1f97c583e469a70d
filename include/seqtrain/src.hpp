#pragma once

// Defines the functions of a program that is compiled with SEQTRAIN_SEPARATE_COMPILATION. One of
// its files includes this, see core/separate_compilation.hpp.
#ifndef SEQTRAIN_SEPARATE_COMPILATION
#error "define SEQTRAIN_SEPARATE_COMPILATION for all files of the program"
#endif

#include <seqtrain/model/src/load_any_network.hpp>
#include <seqtrain/model/src/make_passes.hpp>
