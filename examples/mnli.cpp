// Fine-tunes a classifier of texts or of pairs of texts. See docs/flags.md.
#include <string_view>

#include <seqtrain/cli/run.hpp>

#include "fine_tune.hpp"
#include "open_file.hpp"

using namespace seqtrain;

int mnli_main(int argc, char** argv) {
  return cli::run([&](log::Log& log) {
    cli::TrainFlags flags;
    flags.open = open_file;
    if (argc > 0 && std::string_view{argv[0]} == "seqtrain train") {
      flags.train_file = flags.dev_file = "";  // for texts of one's own: not the bundled pairs
    }
    cli::Flags parser{"mnli", "fine-tunes a classifier of texts or of pairs of texts", log};
    if (flags.parse(parser, argc, argv)) fine_tune(log, "mnli", flags, parser);
  });
}
