#pragma once

#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::tests {

/// Returns the message of the `Error` that `action` throws.
template <class Action>
std::string problem_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace seqtrain::tests
