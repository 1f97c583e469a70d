#pragma once

#include <seqtrain/languages/bert.hpp>
#include <seqtrain/languages/program.hpp>
#include <seqtrain/languages/ulmfit.hpp>
