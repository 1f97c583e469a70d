// Pushes a model's folder to the hub, for tests in other languages.
#include <seqtrain/cli/run.hpp>
#include <seqtrain/experiment/push_to_hub.hpp>

int main(int argc, char** argv) {
  return seqtrain::cli::run([&](const seqtrain::log::Log& log) {
    if (argc != 3) throw seqtrain::InputError{"a folder and a name are needed"};
    seqtrain::cli::OutputFlags flags;
    flags.push_to_hub = argv[2];
    flags.validate();
    seqtrain::experiment::PushToHub{flags, log}.push(argv[1], {});
  });
}
