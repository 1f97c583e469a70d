#include <string>

#include <seqtrain/text/unicode/utf8.hpp>

#include "fuzz.hpp"

/// Validation must agree with a plain version, and a valid text must decode and encode to itself.
void seqtrain::fuzz::run(Input input) {
  const auto text = input.text();
  std::size_t valid = 0;
  std::size_t characters = 0;
  while (const auto length = text::well_formed_prefix(text.substr(valid))) {
    valid += length;
    ++characters;
  }
  const auto invalid = text::first_invalid(text);
  require(invalid.value_or(text.size()) == valid);
  require(text::is_valid_utf8(text) == !invalid);
  const auto prefix = text.substr(0, valid);
  require(text::count_characters(prefix) == characters);
  std::string again;
  for (std::size_t position = 0; position < prefix.size();) {
    text::append_utf8(again, text::decode(prefix, position));
  }
  require(again == prefix);
}
