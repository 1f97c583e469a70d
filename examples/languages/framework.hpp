#pragma once

// What `languages` trains. Another framework is another alias, and the header that defines it.
#if defined(LANGUAGES_WITH_BERT)
#include "bert.hpp"
using Framework = Bert;
#else
#include "ulmfit.hpp"
using Framework = Ulmfit;
#endif
