#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::tests {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// Returns the message of the error with which `read` refuses an input. The test fails if `read`
/// does not refuse it.
template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

/// Expects `read` to refuse every proper prefix of `text`.
template <class Read>
void expect_no_prefix_is_read(const std::string& text, Read read) {
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string prefix = text.substr(0, length);
    EXPECT_THROW(read(prefix), InputError) << "first " << length << " bytes";
  }
}

/// Expects `read` to refuse `text` with some flipped bits, or to find something valid in it.
template <class Read>
void survive_flipped_bits(const std::string& text, int rounds, Read read) {
  std::mt19937 random{1};
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = text;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    }
    try {
      read(damaged);
    } catch (const InputError&) {
    }
  }
}

}  // namespace seqtrain::tests
