#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/report/python_json.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::report {
namespace {

std::uint64_t from_hex(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

TEST(PythonNumber, IsWhatReprWrites) {
  const auto golden = json::Document::load(tests::golden() / "trials.json");
  for (const auto& number : golden.root().at("numbers").items()) {
    const auto value = std::bit_cast<double>(from_hex(number.at("bits").string()));
    EXPECT_EQ(python_number(value), number.at("text").string());
  }
}

TEST(PythonQuoted, IsWhatJsonDumpsWrites) {
  const auto golden = json::Document::load(tests::golden() / "trials.json");
  for (const auto& text : golden.root().at("texts").items()) {
    const std::string_view hex = text.at("hex").string();
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      bytes += static_cast<char>(from_hex(hex.substr(i, 2)));
    }
    EXPECT_EQ(python_quoted(bytes), text.at("json").string()) << hex;
  }
}

}  // namespace
}  // namespace seqtrain::report
