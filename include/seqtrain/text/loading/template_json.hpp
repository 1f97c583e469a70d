#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/post_processing.hpp>

namespace seqtrain::text {
namespace detail {

[[nodiscard]] inline Id read_id(const json::Value& value) {
  const std::int64_t id = value.integer();
  if (id < 0 || id >= std::numeric_limits<Id>::max()) throw value.error("out of range");
  return static_cast<Id>(id);
}

/// Reads one template of a TemplateProcessing: a list of special tokens and of the texts A and B,
/// each with a token type.
class TemplateReader {
 public:
  TemplateReader(const json::Value& special_tokens, bool pair)
      : special_tokens_{special_tokens}, pair_{pair} {}

  /// Returns the template. Throws `InputError` unless each text occurs once and in order, and the
  /// types are 0 up to some place between the texts and 1 after it.
  [[nodiscard]] Template read(const json::Value& pieces) {
    for (const auto& piece : pieces.items()) {
      const auto text = piece.find("Sequence");
      text ? add_text(*text) : add_special(piece.at("SpecialToken"));
    }
    if (texts_ != (pair_ ? 2u : 1u)) refuse(pieces);
    return template_;
  }

 private:
  [[noreturn]] static void refuse(const json::Value& part) {
    throw part.error("the template is not supported",
                     "supported: one text, or two in order with type 0 before type 1");
  }

  void add_text(const json::Value& text) {
    note_type(text);
    if (texts_ == 2 || text.at("id").string() != (texts_ == 0 ? "A" : "B")) refuse(text);
    ++texts_;
  }

  void add_special(const json::Value& special) {
    note_type(special);
    auto& place = texts_ == 0            ? template_.before
                  : texts_ == 1 && pair_ ? template_.between
                                         : template_.after;
    const auto token = special_tokens_.at(special.at("id").string());
    for (const auto& id : token.at("ids").items()) place.push_back(read_id(id));
  }

  void note_type(const json::Value& part) {
    const std::int64_t type = part.at("type_id").integer();
    const bool ones = template_.type_zero_between.has_value();
    if (type == (ones ? 1 : 0)) return;
    if (type != 1 || texts_ != 1 || !pair_) refuse(part);
    template_.type_zero_between = template_.between.size();
  }

  json::Value special_tokens_;
  bool pair_;
  Template template_;
  unsigned texts_ = 0;  ///< number of texts read so far
};

}  // namespace detail

[[nodiscard]] inline Templates read_templates(const json::Value& processor);

/// Reads a sequence of processors. At most one of them may add tokens.
[[nodiscard]] inline Templates read_template_sequence(const json::Value& sequence) {
  Templates templates;
  bool found = false;
  for (const auto& processor : sequence.at("processors").items()) {
    if (processor.at("type").string() == "ByteLevel") continue;
    if (std::exchange(found, true)) {
      throw processor.error("a second processor that adds tokens is not supported");
    }
    templates = read_templates(processor);
  }
  return templates;
}

/// Reads the templates of a tokenizer.json's `post_processor`. Throws `InputError` if it is not
/// supported.
[[nodiscard]] inline Templates read_templates(const json::Value& processor) {
  const auto type = processor.at("type");
  const std::string_view name = type.string();
  const auto trims = processor.find("trim_offsets");
  const bool trims_spaces = !trims || trims->boolean();
  if (name == "ByteLevel") return {.trims_spaces = trims_spaces};  // changes only offsets
  if (name == "Sequence") return read_template_sequence(processor);
  if (name == "TemplateProcessing") {
    const auto special_tokens = processor.at("special_tokens");
    return {.single = detail::TemplateReader{special_tokens, false}.read(processor.at("single")),
            .pair = detail::TemplateReader{special_tokens, true}.read(processor.at("pair"))};
  }
  if (name != "BertProcessing" && name != "RobertaProcessing") {
    throw type.error("\"" + std::string{name} + "\" is not supported",
                     "supported: BertProcessing, ByteLevel, RobertaProcessing, Sequence, "
                     "TemplateProcessing");
  }
  const auto special = [&](const char* role) {
    const auto token_and_id = processor.at(role).items();
    if (token_and_id.size() != 2) throw processor.at(role).error("expected a token and its id");
    return detail::read_id(token_and_id[1]);
  };
  const Id cls = special("cls");
  const Id sep = special("sep");
  if (name == "BertProcessing") return bert_templates(cls, sep);
  auto templates = roberta_templates(cls, sep);
  templates.trims_spaces = trims_spaces;
  return templates;
}

}  // namespace seqtrain::text
