#pragma once

/// Functions that take a compiler long are marked with this. They are inline, unless a program is
/// compiled with SEQTRAIN_SEPARATE_COMPILATION defined. Then exactly one of its files includes
/// <seqtrain/src.hpp>, which defines them, and the others compile in a fraction of the time.
#ifdef SEQTRAIN_SEPARATE_COMPILATION
#define SEQTRAIN_SEPARATE
#else
#define SEQTRAIN_SEPARATE inline
#endif
