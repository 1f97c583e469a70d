#pragma once

// The framework that `languages` trains. To use another one, include its header and change the
// alias.
#if defined(LANGUAGES_WITH_BERT)
#include "bert.hpp"
using Framework = Bert;
#else
#include "ulmfit.hpp"
using Framework = Ulmfit;
#endif
