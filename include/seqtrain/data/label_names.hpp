#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/label_key.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Reads the names of labels in the order of their ids, one a line. Blanks around a name are left
/// out. Throws `InputError` with the line if a name is empty or not UTF-8.
[[nodiscard]] inline std::vector<std::string> read_label_names(const std::filesystem::path& path) {
  const MappedFile file{path};
  const Source source{.text = file.text(), .name = path.string()};
  std::string_view rest = source.text;
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    source.demand_utf8(line);
    const std::string_view name = trimmed_label(line);
    if (name.empty()) throw source.error("expected the name of a label", line);
    names.emplace_back(name);
  }
  return names;
}

/// Returns the names in the file that a list names as its only item, else the list.
[[nodiscard]] inline std::vector<std::string> label_names(std::vector<std::string> listed) {
  std::error_code none;
  const bool is_file = listed.size() == 1 && std::filesystem::is_regular_file(listed[0], none);
  return is_file ? read_label_names(listed[0]) : std::move(listed);
}

}  // namespace seqtrain::data
