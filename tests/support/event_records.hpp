#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/crc32c.hpp>

namespace seqtrain::tests {

/// The fields of a message of protocol buffers. Each is a number or bytes.
struct ProtobufField {
  int number = 0;
  std::uint64_t value = 0;
  std::string_view bytes = {};
};

inline std::vector<ProtobufField> protobuf_fields(std::string_view message) {
  const auto fixed = [&message](std::size_t size) {
    std::uint64_t number = 0;
    if (message.size() < size) throw std::runtime_error{"a message that ends early"};
    std::memcpy(&number, message.data(), size);
    message.remove_prefix(size);
    return number;
  };
  const auto varint = [&fixed] {
    std::uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = fixed(1);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  };
  std::vector<ProtobufField> fields;
  while (!message.empty()) {
    const std::uint64_t key = varint();
    ProtobufField field{.number = static_cast<int>(key >> 3)};
    if ((key & 7) == 2) {
      const std::uint64_t size = varint();
      field.bytes = message.substr(0, size);
      if (field.bytes.size() != size) throw std::runtime_error{"a field that ends early"};
      message.remove_prefix(size);
    } else {
      field.value = (key & 7) == 0 ? varint() : fixed((key & 7) == 1 ? 8 : 4);
    }
    fields.push_back(field);
  }
  return fields;
}

/// Returns the bytes of the last field with that number, or an empty text.
inline std::string_view protobuf_bytes(std::string_view message, int number) {
  std::string_view bytes;
  for (const auto& field : protobuf_fields(message)) {
    if (field.number == number) bytes = field.bytes;
  }
  return bytes;
}

/// An event in the form that tests compare.
struct EventSeen {
  std::int64_t step = 0;
  std::string version = {};  ///< version of the file
  bool starts = false;       ///< TensorBoard drops this step and later ones
  std::map<std::string, float> scalars = {};
  std::map<std::string, std::string> texts = {};
  std::map<std::string, std::string> plugin_data = {};  ///< names of plugins of hyperparameters
};

inline EventSeen event_seen(std::string_view event) {
  EventSeen seen;
  for (const auto& field : protobuf_fields(event)) {
    if (field.number == 2) seen.step = static_cast<std::int64_t>(field.value);
    if (field.number == 3) seen.version = field.bytes;
    if (field.number == 7) seen.starts = true;
    if (field.number != 5) continue;
    for (const auto& value : protobuf_fields(field.bytes)) {
      const std::string tag{protobuf_bytes(value.bytes, 1)};
      const auto plugin = protobuf_bytes(protobuf_bytes(value.bytes, 9), 1);
      for (const auto& part : protobuf_fields(value.bytes)) {
        if (part.number == 2) {
          seen.scalars[tag] = std::bit_cast<float>(static_cast<std::uint32_t>(part.value));
        }
      }
      if (protobuf_bytes(plugin, 1) == "text") {
        seen.texts[tag] = protobuf_bytes(protobuf_bytes(value.bytes, 8), 8);
      }
      if (protobuf_bytes(plugin, 1) == "hparams") seen.plugin_data[tag] = protobuf_bytes(plugin, 2);
    }
  }
  return seen;
}

/// Returns the data of the records of an event file. Throws if a record is incomplete or its
/// checksums are wrong.
inline std::vector<std::string> records_of(std::string_view file) {
  const auto take = [&file](std::size_t size) {
    if (file.size() < size) throw std::runtime_error{"a torn record"};
    const auto bytes = file.substr(0, size);
    file.remove_prefix(size);
    return bytes;
  };
  const auto take_checked = [&take](std::size_t size) {
    const auto bytes = take(size);
    std::uint32_t stored = 0;
    std::memcpy(&stored, take(sizeof stored).data(), sizeof stored);
    const std::uint32_t sum = std::rotl(stored - 0xa282ead8U, 15);
    if (sum != Crc32c{}.update(bytes).value()) throw std::runtime_error{"a wrong checksum"};
    return bytes;
  };
  std::vector<std::string> records;
  while (!file.empty()) {
    std::uint64_t size = 0;
    std::memcpy(&size, take_checked(sizeof size).data(), sizeof size);
    records.emplace_back(take_checked(size));
  }
  return records;
}

inline std::vector<EventSeen> events_of(std::string_view file) {
  std::vector<EventSeen> events;
  for (const auto& record : records_of(file)) events.push_back(event_seen(record));
  return events;
}

}  // namespace seqtrain::tests
