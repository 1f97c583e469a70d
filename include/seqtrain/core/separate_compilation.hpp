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

// The linker refuses a program of which only some files are compiled with the macro: they define
// this symbol with different values. Equal values are no error.
#define SEQTRAIN_MODE_SYMBOL "seqtrain_has_files_with_and_without_SEQTRAIN_SEPARATE_COMPILATION"
#ifdef SEQTRAIN_SEPARATE_COMPILATION
#define SEQTRAIN_MODE "2"
#else
#define SEQTRAIN_MODE "1"
#endif
__asm__(".globl " SEQTRAIN_MODE_SYMBOL "\n.hidden " SEQTRAIN_MODE_SYMBOL "\n" SEQTRAIN_MODE_SYMBOL
        " = " SEQTRAIN_MODE);
#undef SEQTRAIN_MODE
#undef SEQTRAIN_MODE_SYMBOL
