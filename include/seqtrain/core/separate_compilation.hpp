#pragma once

/// Marks the definitions of functions that take long to compile. They are inline, unless a program
/// is compiled with SEQTRAIN_SEPARATE_COMPILATION defined. Then exactly one of its files includes
/// <seqtrain/src.hpp>, or the src.hpp of a room, which defines the room's functions. The other
/// files compile in a fraction of the time.
#ifdef SEQTRAIN_SEPARATE_COMPILATION
#define SEQTRAIN_SEPARATE
#else
#define SEQTRAIN_SEPARATE inline
#endif
