#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/encode_file_options.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/encoded_file_writer.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/record_file.hpp>
#include <seqtrain/data/split_field.hpp>
#include <seqtrain/data/targets.hpp>
#include <seqtrain/data/text_folder.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::data {

namespace detail {

/// Counts of the records of a file or a part of it.
struct Counts {
  std::size_t left_out = 0;     ///< records without a gold label
  std::size_t empty_texts = 0;  ///< examples with a text of only whitespace

  Counts& operator+=(const Counts& other) {
    left_out += other.left_out;
    empty_texts += other.empty_texts;
    return *this;
  }
};

/// The encoded examples of a part of a file.
struct EncodedPart {
  EncodedSet set;
  Counts counts = {};
};

/// One thread's working memory.
template <text::Tokenizer T>
struct EncodeScratch {
  typename T::Scratch tokenizer;
  std::vector<text::Id> ids;
  Targets targets;
};

/// The label of an example.
struct LabelOf {
  std::int32_t id = -1;
  std::span<const float> targets = {};
};

/// Throws `InputError` if the label is not one of the task's.
template <class R>
LabelOf label_of(const R& reader, const Example& example, const Labels& labels, Targets& targets) {
  if (labels.problem_type() == ProblemType::loss_alone) return {.id = 0};
  if (labels.targets() > 0) {
    const std::string problem = targets.parse(*example.label, labels);
    if (!problem.empty()) throw reader.label_error(problem, example, {});
    const auto numbers = targets.numbers();
    const auto likeliest = std::ranges::max_element(numbers) - numbers.begin();
    return {.id = labels.soft() ? static_cast<std::int32_t>(likeliest) : 0, .targets = numbers};
  }
  const auto known = labels.find(*example.label);
  if (known) return {.id = *known};
  throw reader.label_error(labels.problem_with(*example.label), example,
                           "--labels names them in order");
}

/// Tells whether a reader's examples must have labels.
template <class R>
bool demands_labels(const R& reader) {
  if constexpr (requires { reader.fields(); }) {
    return reader.fields().label_required && !reader.fields().label.empty();
  }
  return true;
}

/// Makes an error about an example with one text whose two are to be encoded apart.
template <class R>
InputError second_text_error(const R& reader, const Example& example) {
  const InputError error = reader.label_error("", example, "");
  Where where = error.where();
  where.field.clear();
  return InputError{"has one text, and each example needs two", where,
                    "name the field of the second one with --pair-field"};
}

template <class R, class Part, text::Tokenizer T>
void encode_part(const R& reader, const Part& part, const T& tokenizer, const Labels& labels,
                 const EncodeFileOptions& options, EncodeScratch<T>& scratch, EncodedPart& out) {
  out.set.truncate(0);
  out.counts = {};
  const auto none = Targets::none(labels);
  reader.read(part, [&](const Example& example) {
    if (!is_read(example, options.read)) return;
    const bool optional = options.read.label_optional;
    const bool has_none = example.label && (labels.is_no_label(*example.label) ||
                                            (optional && example.label->empty()));
    const bool is_skipped = !example.label && options.read.skip_unlabelled;
    if (is_skipped || (has_none && !optional)) return void(++out.counts.left_out);
    if (!example.label && demands_labels(reader)) {
      throw reader.label_error("expected a label, found null", example, {});
    }
    const bool is_labelled = example.label && !has_none;
    const LabelOf label = is_labelled || labels.problem_type() == ProblemType::loss_alone
                              ? label_of(reader, example, labels, scratch.targets)
                              : LabelOf{.targets = none};
    if (is_blank(example.text) || is_blank(example.text_pair.value_or("-"))) {
      ++out.counts.empty_texts;
    }
    const auto add = [&](std::string_view text, std::optional<std::string_view> pair) {
      scratch.ids.clear();
      const std::size_t first_segment =
          tokenizer.encode(text, pair, options.encode, scratch.tokenizer, scratch.ids);
      out.set.push_back(scratch.ids, first_segment, label.id, label.targets);
    };
    if (options.texts == Texts::together) return add(example.text, example.text_pair);
    if (!example.text_pair) throw second_text_error(reader, example);
    add(example.text, {});
    add(*example.text_pair, {});
  });
}

/// Returns the size of a part in bytes: each worker gets a few parts, and a part fits into a core's
/// cache.
inline std::size_t part_bytes(std::size_t total, std::size_t workers) {
  return std::clamp(total / (8 * workers), std::size_t{1} << 16, std::size_t{1} << 20);
}

/// Returns the options for reading examples with these labels.
inline ReadOptions read_options(const EncodeFileOptions& options, const Labels& labels) {
  ReadOptions read = options.read;
  read.problem_type = labels.problem_type();
  read.soft_labels = labels.soft();
  return read;
}

/// Encodes all examples of a `Reader`, a `TextFolder` or an `ExampleFile` and appends them to
/// `out`, an `EncodedSet` or an `EncodedFileWriter`. After each part it calls `done` on the
/// caller's thread with the part and the examples so far. Returns the counts of records.
template <class R, text::Tokenizer T, class Done, class Out>
Counts append_parts(const R& reader, const T& tokenizer, const Labels& labels,
                    const EncodeFileOptions& options, const Done& done, Out& out) {
  const EncodedSet empty{tokenizer.vocab_size(), tokenizer.pad_id(), labels.targets()};
  const auto parts = reader.parts(part_bytes(reader.bytes(), options.workers));
  std::vector<EncodedPart> slots;
  while (slots.size() < 2 * options.workers + 1) slots.push_back({.set = empty});
  std::vector<EncodeScratch<T>> scratch(options.workers);
  OrderedWorkers<EncodedPart> workers{
      0, parts.size(), options.workers, std::move(slots),
      [&](std::size_t index, std::size_t worker, EncodedPart& made) {
        encode_part(reader, parts[index], tokenizer, labels, options, scratch[worker], made);
      }};
  Counts counts;
  for (const auto& part : parts) {
    const EncodedPart& encoded = *workers.next();
    out.append(encoded.set);
    counts += encoded.counts;
    done(part, out.size());
  }
  return counts;
}

/// Encodes examples into memory or a file. `append_to(out)` appends all examples of the source
/// `name` and returns their counts.
template <class T, class Append>
EncodedFile encode_all(const std::string& name, const T& tokenizer, const Labels& labels,
                       const EncodeFileOptions& options, const Append& append_to) {
  const EncodedSet empty{tokenizer.vocab_size(), tokenizer.pad_id(), labels.targets()};
  const std::size_t rows = options.texts == Texts::apart ? 2 : 1;  // of an example
  const auto kept = [&](const auto& out, const Counts& counts) {
    return rows * kept_of(out.size() / rows, name, options.fraction, counts.left_out);
  };
  if (!options.file.empty()) {
    EncodedFileWriter writer{options.file, empty, options.encode.max_length};
    const Counts counts = append_to(writer);
    writer.commit(kept(writer, counts), counts.left_out, counts.empty_texts);
    return open_encoded_file(options.file, tokenizer, labels);
  }
  EncodedFile result{.set = empty, .max_length = options.encode.max_length};
  const Counts counts = append_to(result.set);
  result.left_out = counts.left_out;
  result.empty_texts = counts.empty_texts;
  result.total = result.set.size();
  result.set.truncate(kept(result.set, counts));
  result.set.shrink_to_fit();
  return result;
}

/// Encodes all examples of a `Reader` or a `TextFolder`.
template <class R, class T>
EncodedFile encode_whole(const R& reader, const T& tokenizer, const Labels& labels,
                         const EncodeFileOptions& options) {
  const auto done = [&](const auto& part, std::size_t examples) {
    if (options.progress) options.progress({reader.end_of(part), reader.bytes(), examples});
  };
  return encode_all(reader.name(), tokenizer, labels, options, [&](auto& out) {
    return append_parts(reader, tokenizer, labels, options, done, out);
  });
}

}  // namespace detail

/// Encodes a file with a tokenizer of a known class.
template <text::Tokenizer T>
EncodedFile encode_file(const std::filesystem::path& path, const T& tokenizer, const Labels& labels,
                        const EncodeFileOptions& options = {}) {
  options.validate();
  const ReadOptions read = detail::read_options(options, labels);
  if (const auto other = open_example_file(path, read)) {
    return detail::encode_whole(*other, tokenizer, labels, options);
  }
  if (is_text_folder(path)) {
    refuse_fields(read, path.string());
    return detail::encode_whole(TextFolder{path}, tokenizer, labels, options);
  }
  RecordFile file{path, read};
  const auto done = [&](std::string_view part, std::size_t examples) {
    if (options.progress) options.progress({file.end_of(part), file.bytes(), examples});
    file.forget(part);
  };
  return detail::encode_all(file.name(), tokenizer, labels, options, [&](auto& out) {
    detail::Counts counts;
    file.each_text([&](const Reader& reader) {
      counts += detail::append_parts(reader, tokenizer, labels, options, done, out);
    });
    return counts;
  });
}

}  // namespace seqtrain::data
