#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/text/unicode/utf8.hpp>
#include <seqtrain/train/pairs.hpp>

/// The messages that TensorBoard reads. Numbers of fields and of enumerations are those of
/// tensorboard/compat/proto and tensorboard/plugins/hparams.
namespace seqtrain::report {

/// Returns the text with U+FFFD in place of every byte that is not part of valid UTF-8.
inline std::string valid_utf8(std::string_view bytes) {
  if (text::is_valid_utf8(bytes)) return std::string{bytes};
  std::string valid;
  while (!bytes.empty()) {
    const std::size_t length = text::well_formed_prefix(bytes);
    valid += length > 0 ? bytes.substr(0, length) : "\xef\xbf\xbd";
    bytes.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
}

/// Writes a message in the encoding of protocol buffers (protobuf.dev/programming-guides/encoding).
/// Fields have the order of the calls.
class Message {
 public:
  /// Writes an integer, a Boolean or a value of an enumeration.
  Message& integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  /// Appends a field with a double.
  Message& number(int field, double value) {
    key(field, 1);
    append_little_endian(text_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  /// Appends a field with a float.
  Message& number(int field, float value) {
    key(field, 5);
    append_little_endian(text_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  /// Appends a field with bytes.
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  /// Writes a text as valid UTF-8, because readers refuse any other.
  Message& string(int field, std::string_view value) { return bytes(field, valid_utf8(value)); }
  /// Appends a field with a message.
  Message& message(int field, const Message& value) { return bytes(field, value.encoded()); }

  [[nodiscard]] const std::string& encoded() const noexcept { return text_; }

 private:
  void key(int field, std::uint64_t wire_type) {
    varint(static_cast<std::uint64_t>(field) << 3 | wire_type);
  }

  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) text_ += static_cast<char>((number & 0x7f) | 0x80);
    text_ += static_cast<char>(number);
  }

  std::string text_;
};

/// Builds a Summary: figures, texts and hyperparameters, each with a tag.
class Summary {
 public:
  /// Adds a figure.
  Summary& scalar(std::string_view tag, double value) {
    return add(Message{}.string(1, tag).number(2, static_cast<float>(value)));
  }

  /// Adds a text, which TensorBoard renders as Markdown.
  Summary& text(std::string_view tag, std::string_view markdown) {
    constexpr int dt_string = 7;
    const auto tensor = Message{}.integer(1, dt_string).message(2, Message{}).string(8, markdown);
    return add(tag, tensor, Message{}.string(1, "text"));
  }

  /// Adds the hyperparameters of a run that begins. A value that is a number or `true` or `false`
  /// keeps its type.
  Summary& hparams(const train::Pairs& values, double start_seconds) {
    Message info;
    for (const auto& [name, value] : values) {
      info.message(1, Message{}.string(1, name).message(2, hparam(value)));
    }
    return hparams("_hparams_/session_start_info", 3, info.number(5, start_seconds));
  }

  /// Records that the run has ended successfully.
  Summary& hparams_end(double end_seconds) {
    constexpr int status_success = 1;
    return hparams("_hparams_/session_end_info", 4,
                   Message{}.integer(1, status_success).number(2, end_seconds));
  }

  [[nodiscard]] const Message& message() const noexcept { return message_; }

 private:
  /// Returns a hyperparameter as a google.protobuf.Value.
  static Message hparam(const std::string& value) {
    if (value == "true" || value == "false") return Message{}.integer(4, value == "true" ? 1 : 0);
    const auto number = parse_number<double>(value);
    const bool is_number = number && std::isfinite(*number);
    return is_number ? Message{}.number(2, *number) : Message{}.string(3, value);
  }

  Summary& hparams(std::string_view tag, int field, const Message& info) {
    constexpr int dt_float = 1;
    const auto no_numbers =
        Message{}.integer(1, dt_float).message(2, Message{}.message(2, Message{}));
    const auto content = Message{}.message(field, info);
    return add(tag, no_numbers, Message{}.string(1, "hparams").bytes(2, content.encoded()));
  }

  /// Adds a tensor for a plugin.
  Summary& add(std::string_view tag, const Message& tensor, const Message& plugin) {
    constexpr int data_class_tensor = 2;
    const auto metadata = Message{}.message(1, plugin).integer(4, data_class_tensor);
    return add(Message{}.string(1, tag).message(8, tensor).message(9, metadata));
  }

  Summary& add(const Message& value) {
    message_.message(1, value);
    return *this;
  }

  Message message_;
};

namespace detail {

inline Message event(double wall_time, std::int64_t step) {
  Message message;
  message.number(1, wall_time);
  if (step != 0) message.integer(2, step);
  return message;
}

}  // namespace detail

/// Returns the Event that begins each file.
inline Message file_version(double wall_time) {
  return detail::event(wall_time, 0).string(3, "brain.Event:2");
}

/// Returns the Event that holds a summary.
inline Message summary_event(double wall_time, std::int64_t step, const Summary& summary) {
  return detail::event(wall_time, step).message(5, summary.message());
}

/// Returns the Event that makes TensorBoard drop the earlier records of `step` and later steps.
inline Message start_event(double wall_time, std::int64_t step) {
  constexpr int start = 1;
  return detail::event(wall_time, step).message(7, Message{}.integer(1, start));
}

}  // namespace seqtrain::report
