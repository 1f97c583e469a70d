#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/normalizers/character_map.hpp>

namespace seqtrain::text {
namespace {

/// A map of "a" to "b": the root leads to place 'a', whose value is at place 256.
struct MapUnits {
  std::vector<std::uint32_t> units = std::vector<std::uint32_t>(512);
  std::string strings = std::string{"b\0", 2};

  MapUnits() {
    units['a'] = 'a' | 1u << 8 | ('a' ^ 256u) << 10;
    units[256] = 1u << 31;
  }
  [[nodiscard]] std::string bytes() const {
    const auto size = static_cast<std::uint32_t>(4 * units.size());
    std::string out(4 + size, '\0');
    std::memcpy(out.data(), &size, 4);
    std::memcpy(out.data() + 4, units.data(), size);
    return out + strings;
  }
};

std::string mapped(std::string_view text) {
  std::string out;
  CharacterMap{MapUnits{}.bytes()}.normalize(text, out);
  return out;
}

TEST(CharacterMap, ReplacesAShortGraphemeByWhatItsBeginningBecomes) {
  EXPECT_EQ(mapped("xaya"), "xbyb");
  EXPECT_EQ(mapped("a\u0301"), "b");
  EXPECT_EQ(mapped("a\u0301\u0301"), "b");
  EXPECT_EQ(mapped("a\u0301\u0301\u0301"), "b\u0301\u0301\u0301") << "of more than 5 bytes";
}

TEST(CharacterMap, RefusesDamage) {
  EXPECT_THROW(CharacterMap{""}, InputError);
  EXPECT_THROW(CharacterMap{std::string(8, '\0')}, InputError);
  EXPECT_THROW(CharacterMap{MapUnits{}.bytes().substr(0, 100)}, InputError);
  const auto expect_damage = [](auto change) {
    MapUnits map;
    change(map);
    EXPECT_THROW(CharacterMap{map.bytes()}, InputError);
  };
  expect_damage([](MapUnits& map) { map.strings = "b"; });
  expect_damage([](MapUnits& map) { map.strings = std::string{"\xff\0", 2}; });
  expect_damage([](MapUnits& map) { map.units[256] = 1u << 31 | 2; });
  expect_damage([](MapUnits& map) { map.units['a'] |= 1u << 30; });
}

TEST(CharacterMap, EndsWhereATrieLoops) {
  MapUnits map;
  map.units['a'] = 'a' | 'a' << 10;  // leads back to the root's children
  std::string out;
  CharacterMap{map.bytes()}.normalize(std::string(1000, 'a'), out);
  EXPECT_EQ(out.size(), 1000u);
}

}  // namespace
}  // namespace seqtrain::text
