#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/label_key.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

#include "fuzz.hpp"

namespace seqtrain::fuzz {

/// Returns a copy of an example's fields, joined.
inline std::string copy_of(const data::Example& example) {
  const auto field = [](const std::optional<std::string_view>& text) {
    return text ? "=" + std::string{*text} + "\x1f" : std::string{"\x1f"};
  };
  return field(example.text) + field(example.text_pair) + field(example.label);
}

/// Requires that a label has a key without blanks around it, and a form for tables.
inline void check_label(std::string_view label) {
  const auto trimmed = data::trimmed_label(label);
  require(data::trimmed_label(trimmed) == trimmed);
  require(text::is_valid_utf8(data::label_key(label)));
  require(data::label_key(trimmed) == data::label_key(label));
  const std::string cell = shown(label);
  require(text::is_valid_utf8(cell));
  for (const char c : cell) require(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
  require(shown(cell) == cell);
}

/// Reads the input as a file of that name. Every field must be UTF-8, every record a part of the
/// file, and the examples must not depend on the size of the parts.
inline void read_examples(Input input, const std::string& name) {
  const std::size_t part_size = 1 + input.take();
  const data::ReadOptions options{.labelled = input.take() % 2 == 0};
  accepts([&] {
    const data::Reader reader{{input.text(), name}, options};
    std::vector<std::string> whole;
    reader.read_all([&](const data::Example& example) {
      require(text::is_valid_utf8(example.text));
      require(text::is_valid_utf8(example.text_pair.value_or("")));
      require(text::is_valid_utf8(example.label.value_or("")));
      check_label(example.label.value_or(""));
      require(example.record.data() >= input.text().data());
      require(example.record.data() + example.record.size() <=
              input.text().data() + input.text().size());
      whole.push_back(copy_of(example));
    });
    std::vector<std::string> parts;
    const auto keep = [&](const data::Example& example) { parts.push_back(copy_of(example)); };
    for (const auto part : reader.parts(part_size)) reader.read(part, keep);
    require(parts == whole);
  });
}

}  // namespace seqtrain::fuzz
