#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>

namespace seqtrain::subwords::detail {

/// Reads a protocol buffer. Throws `InputError` where the bytes are none.
class MessageReader {
 public:
  MessageReader(std::string_view bytes, const std::string& file) : rest_{bytes}, file_{&file} {}

  /// Calls `fn(number, bytes)` for each field that is a string or a message.
  template <class Fn>
  void for_each(const Fn& fn) {
    while (!rest_.empty()) {
      const std::uint64_t key = varint();
      switch (key & 7) {
        case 0:
          varint();
          break;
        case 1:
          take(8);
          break;
        case 2:
          fn(key >> 3, take(varint()));
          break;
        case 5:
          take(4);
          break;
        default:
          throw damaged();
      }
    }
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw damaged();
    const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw damaged();
  }

  [[nodiscard]] InputError damaged() const {
    return InputError{"is no SentencePiece model", {.object = *file_}};
  }

  std::string_view rest_;
  const std::string* file_;
};

/// What characters become: a trie as a double array (Aoe 1989), as darts-clone lays it out, and the
/// strings that its values are offsets into, each ended by a zero. SentencePiece follows both
/// without looking where they end. So every step from a node, and every value, has to stay inside.
inline bool is_sound_character_map(std::string_view map) {
  constexpr std::uint32_t leaf = std::uint32_t{1} << 31, has_value = 1 << 8, scaled = 1 << 9;
  std::uint32_t size = 0;
  if (map.size() <= sizeof size) return false;
  std::memcpy(&size, map.data(), sizeof size);
  map.remove_prefix(sizeof size);
  if (size == 0 || size % 4 != 0 || size >= map.size() || map.back() != '\0') return false;
  std::vector<std::uint32_t> nodes(size / 4);
  std::memcpy(nodes.data(), map.data(), size);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if ((nodes[i] & leaf) != 0) continue;
    const std::size_t next = i ^ (nodes[i] >> 10 << ((nodes[i] & scaled) >> 6));
    if ((next | 0xff) >= nodes.size()) return false;
    if ((nodes[i] & has_value) != 0 && (nodes[next] & ~leaf) >= map.size() - size) return false;
  }
  return true;
}

/// Throws `InputError` unless the bytes are a protocol buffer whose character maps are sound, in
/// the fields that sentencepiece_model.proto gives them.
inline void check_model(std::string_view bytes, const std::string& file) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t normalizer = 3, denormalizer = 5, character_map = 2;
  MessageReader{bytes, file}.for_each([&](std::uint64_t field, std::string_view message) {
    if (field != normalizer && field != denormalizer) return;
    MessageReader{message, file}.for_each([&](std::uint64_t inner, std::string_view map) {
      if (inner != character_map || map.empty() || is_sound_character_map(map)) return;
      throw InputError{"its normalization rules are damaged", {.object = file}};
    });
  });
}

}  // namespace seqtrain::subwords::detail
