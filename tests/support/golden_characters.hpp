#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// FNV-1a over numbers, as in the script that writes the golden file.
class Checksum {
 public:
  void add(char32_t number) { value_ = (value_ ^ number) * 0x100000001B3u; }

  [[nodiscard]] std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value_));
    return digits;
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

/// Compares the checksum and the number of entries with the golden file. `entries(code, checksum)`
/// adds the entry of a character and returns whether there is one.
template <class Entries>
void expect_golden(const char* name, Entries entries) {
  const auto document = json::Document::load(tests::golden() / "unicode.json");
  const auto expected = document.root().at(name);
  Checksum checksum;
  std::int64_t count = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (0xD800 <= code && code <= 0xDFFF) continue;
    count += entries(code, checksum) ? 1 : 0;
  }
  EXPECT_EQ(count, expected.at("count").integer()) << name;
  EXPECT_EQ(checksum.text(), expected.at("checksum").string()) << name;
}

}  // namespace seqtrain::tests
