#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/record_stream.hpp>

#include "examples.hpp"

namespace seqtrain::fuzz {

/// A text that arrives in parts of this size.
struct Parts {
  std::string_view rest;
  std::size_t size;

  std::size_t read(std::span<char> to) {
    const std::size_t count = std::min({size, rest.size(), to.size()});
    std::copy_n(rest.begin(), count, to.begin());
    rest.remove_prefix(count);
    return count;
  }
  [[nodiscard]] bool ready() const { return !rest.empty(); }
};

/// The output of a stream: examples with their lines, and errors.
struct Shown {
  std::vector<std::string> examples = {};
  std::vector<std::string> all = {};
};

/// Reads a text in parts of a size. Returns nothing if the stream throws because it is empty or its
/// format or fields are not clear.
std::optional<Shown> shown(std::string_view text, std::size_t part_size,
                           const data::ReadOptions& options) {
  data::RecordStream<Parts> records{{text, part_size}, "fuzz", options};
  Shown found;
  const auto visit = [&](const data::Example& example) {
    require(text::is_valid_utf8(example.text));
    require(text::is_valid_utf8(example.text_pair.value_or("")));
    require(text::is_valid_utf8(example.label.value_or("")));
    const std::int64_t line = records.line_of(example);
    require(line >= 1 && line <= 1 + std::ranges::count(text, '\n'));
    found.examples.push_back(copy_of(example));
    found.all.push_back(std::to_string(line) + found.examples.back());
  };
  const auto wrong = [&](const InputError& error) {
    require(*error.what() != '\0');
    found.all.push_back(std::to_string(error.where().line) + "! " + error.what());
  };
  const bool accepted = accepts([&] {
    while (records.read(visit, wrong)) {
    }
    require(records.bytes() == std::ssize(text));
  });
  require(records.records() == std::ssize(found.all));
  return accepted ? std::optional{found} : std::nullopt;
}

/// The output of a stream must not depend on the size of the parts. If no record is wrong it must
/// equal that of a file with the same text.
void run(Input input) {
  constexpr std::array<std::optional<data::Format>, 5> formats{
      std::nullopt, data::Format::json_lines, data::Format::tsv, data::Format::csv,
      data::Format::lines};
  using Names = std::vector<std::string>;
  const std::uint8_t choice = input.take();
  const data::ReadOptions options{
      .label_field = choice / 20 % 2 == 1 ? "a,b" : "",
      .columns = choice / 40 % 2 == 1 ? Names{"text", "a", "b", "..."} : Names{},
      .labelled = choice / 5 % 2 == 0,
      .format = formats[choice % 5],
      .empty_lines = choice / 80 % 2 == 1,
      .problem_type = choice / 10 % 2 == 1 ? ProblemType::multi_label : ProblemType::single_label};
  const std::size_t part_size = 1 + input.take();
  const auto whole = shown(input.text(), std::string_view::npos, options);
  const auto parts = shown(input.text(), part_size, options);
  require(whole.has_value() == parts.has_value());
  if (!whole) return;
  require(whole->all == parts->all);
  accepts([&] {
    std::vector<std::string> examples;
    const data::Reader reader{{input.text(), "fuzz"}, options};
    reader.read_all([&](const data::Example& example) { examples.push_back(copy_of(example)); });
    require(examples == whole->examples && whole->all.size() == examples.size());
  });
}

}  // namespace seqtrain::fuzz
