#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/subwords/check_model.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::subwords {
namespace {

/// A map of one block, whose root leads nowhere but to itself, and of one string.
class CharacterMap {
 public:
  CharacterMap() : nodes_(256) {}

  CharacterMap& with(std::size_t node, std::uint32_t bits) {
    nodes_[node] = bits;
    return *this;
  }

  [[nodiscard]] std::string bytes() const {
    const auto size = static_cast<std::uint32_t>(nodes_.size() * 4);
    std::string text{reinterpret_cast<const char*>(&size), 4};
    text.append(reinterpret_cast<const char*>(nodes_.data()), size);
    return text + std::string{"x\0", 2};
  }

 private:
  std::vector<std::uint32_t> nodes_;
};

TEST(CharacterMap, IsSoundWhereAllStepsStayInside) {
  EXPECT_TRUE(detail::is_sound_character_map(CharacterMap{}.bytes()));
  constexpr std::uint32_t leaf = 1U << 31, has_value = 1 << 8;
  const auto to = [](std::uint32_t offset) { return offset << 10; };
  const auto sound = [](const CharacterMap& map) {
    return detail::is_sound_character_map(map.bytes());
  };
  EXPECT_TRUE(sound(CharacterMap{}.with(7, to(5) | has_value).with(2, leaf | 1)));
  EXPECT_FALSE(sound(CharacterMap{}.with(7, to(5) | has_value).with(2, leaf | 2)));
  EXPECT_FALSE(sound(CharacterMap{}.with(7, to(256))));
  EXPECT_FALSE(sound(CharacterMap{}.with(7, to(1) | 1 << 9)));  // 256 times as far
}

TEST(CharacterMap, IsNotSoundWithoutNodesOrTheEndOfItsStrings) {
  const std::string map = CharacterMap{}.bytes();
  EXPECT_FALSE(detail::is_sound_character_map(""));
  EXPECT_FALSE(detail::is_sound_character_map(std::string(4, '\0') + "x"));
  EXPECT_FALSE(detail::is_sound_character_map(map.substr(0, map.size() - 1)));
  EXPECT_FALSE(detail::is_sound_character_map(map.substr(0, map.size() - 2)));
  EXPECT_FALSE(detail::is_sound_character_map(std::string("\xff\xff\xff\xff") + map.substr(4)));
}

TEST(CheckModel, FindsMapsInBothNormalizers) {
  const auto message = [](char field, const std::string& bytes) {
    return std::string{static_cast<char>(8 * field + 2)} + static_cast<char>(bytes.size()) + bytes;
  };
  EXPECT_NO_THROW(detail::check_model(message(1, "piece") + message(3, message(1, "name")), "m"));
  for (const char field : {'\3', '\5'}) {
    const std::string bad = message(field, message(2, "map"));
    EXPECT_EQ(tests::refusal([&] { detail::check_model(bad, "m"); }),
              "m: its normalization rules are damaged");
  }
}

TEST(CheckModel, RefusesWhatIsNoProtocolBuffer) {
  for (const std::string bytes : {"\x0a", "\x0a\x05xy", "\x0b", "\x08", "\x09xy", "\x0dxy"}) {
    EXPECT_EQ(tests::refusal([&] { detail::check_model(bytes, "m"); }),
              "m: is no SentencePiece model");
  }
  EXPECT_THROW(detail::check_model(std::string(11, '\xff'), "m"), InputError);
}

}  // namespace
}  // namespace seqtrain::subwords
