// Prints the local folder of a model, for tests in other languages.
#include <iostream>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/storage/find_model.hpp>

int main(int argc, char** argv) {
  return seqtrain::cli::run([&] {
    if (argc != 2) throw seqtrain::InputError{"the name of a model is needed"};
    const seqtrain::storage::Options storages{seqtrain::log::log_on_stderr()};
    std::cout << seqtrain::storage::find_model(argv[1], storages).directory.string() << '\n';
  });
}
