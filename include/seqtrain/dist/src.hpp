#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/dist/src/exchange.hpp>
#include <seqtrain/dist/src/group.hpp>
#include <seqtrain/dist/src/pending.hpp>
#include <seqtrain/dist/src/shared_checkpointer.hpp>
