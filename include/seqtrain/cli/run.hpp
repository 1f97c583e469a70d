#pragma once

#include <exception>
#include <iostream>
#include <new>

#include <seqtrain/core/error.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::cli {

/// The exit code of a program.
enum ExitCode : int {
  done = 0,
  failed = 1,
  wrong_input = 2,        ///< wrong usage or input; nothing was written
  stopped_by_signal = 3,  ///< a signal stopped the run, after a checkpoint
};

/// Calls `body` and turns what it throws into one line on stderr and an exit code. Nothing else in
/// seqtrain ends a program because of an error.
template <class Body>
int run(const Body& body) {
  const auto fail = [](const char* problem, ExitCode code) {
    std::cout.flush();
    std::cerr << "error: " << problem << std::endl;
    return code;
  };
  try {
    body();
    return done;
  } catch (const train::Stopped& stopped) {
    std::cout << stopped.what() << std::endl;
    return stopped_by_signal;
  } catch (const InputError& error) {
    return fail(error.what(), wrong_input);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; a smaller --batch-size or --max-length needs less", failed);
  } catch (const std::exception& error) {
    return fail(error.what(), failed);
  }
}

}  // namespace seqtrain::cli
