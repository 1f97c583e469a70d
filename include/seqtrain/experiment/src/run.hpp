#pragma once

#include <seqtrain/experiment/run.hpp>

namespace seqtrain::experiment {

#ifdef SEQTRAIN_SEPARATE_COMPILATION
template void Run::fit(UsualTrainer);
#endif

}  // namespace seqtrain::experiment
