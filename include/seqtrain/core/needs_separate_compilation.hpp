#pragma once

// Every src.hpp includes this.
#ifndef SEQTRAIN_SEPARATE_COMPILATION
#error "define SEQTRAIN_SEPARATE_COMPILATION for all files of the program"
#endif
