#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// An id of a text together with its text and its place, for people to read.
struct Token {
  Id id = 0;
  /// The text that it stands for; if that is not known, the token of the vocabulary.
  std::string text = {};
  bool special = false;  ///< it comes from the template and not from the text
  /// The half-open range of bytes of the text that the token stands for. It is absent for special
  /// tokens, if the pipeline has no parts, and if the normal form cannot be made character by
  /// character.
  std::optional<std::size_t> begin = {};
  std::optional<std::size_t> end = {};

  bool operator==(const Token&) const = default;
};

}  // namespace seqtrain::text
