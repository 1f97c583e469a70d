// Trains a text classifier for a language whose files are in a bucket, and puts the model there.
// See docs/languages.md.
#include <seqtrain/languages/program.hpp>
#if defined(LANGUAGES_WITH_BERT)
#include <seqtrain/languages/bert.hpp>
#else
#include <seqtrain/languages/ulmfit.hpp>
#endif

// To train another framework, include its header and change the alias.
#if defined(LANGUAGES_WITH_BERT)
using Framework = seqtrain::languages::Bert;
#else
using Framework = seqtrain::languages::Ulmfit;
#endif

int languages_main(int argc, char** argv) {
  return seqtrain::languages::run<Framework>(argc, argv);
}
