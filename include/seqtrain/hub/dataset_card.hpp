#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/hub/yaml.hpp>

namespace seqtrain::hub {

/// The patterns of the files of a split.
struct SplitPatterns {
  std::string split;
  std::vector<std::string> patterns;
};

/// One of a data set's configs, such as a task of GLUE, as its card describes it.
struct DatasetConfig {
  std::string name = {};
  bool is_default = false;
  std::string folder = {};                 ///< the folder that the patterns are relative to
  std::vector<SplitPatterns> splits = {};  ///< empty if the names of the files tell the splits
  /// An unsupported setting that changes how files are read; empty if none.
  std::string not_read = {};
};

namespace detail {

[[noreturn]] inline void refuse_card(const std::string& problem, const YamlNode& node,
                                     const std::string& file) {
  throw InputError{problem,
                   {.object = file, .line = node.line, .field = "configs"},
                   "download the data and name its files instead"};
}

/// Returns the value as a path in the repository. Throws `InputError` if it may lead elsewhere.
inline std::string path_in_repository(const YamlNode& node, const std::string& file) {
  std::string_view path = node.text;
  if (node.kind != YamlNode::Kind::text || path.empty()) refuse_card("expected a path", node, file);
  while (path.starts_with("./")) path.remove_prefix(2);
  const bool leaves = path.starts_with('/') || path.find("://") != path.npos ||
                      ('/' + std::string{path} + '/').find("/../") != std::string::npos;
  if (leaves) refuse_card("'" + node.text + "' is not in the repository", node, file);
  return std::string{path};
}

inline std::vector<std::string> paths_in_repository(const YamlNode& node, const std::string& file) {
  if (node.kind != YamlNode::Kind::list) return {path_in_repository(node, file)};
  std::vector<std::string> paths;
  for (const auto& item : node.items) paths.push_back(path_in_repository(item, file));
  if (paths.empty()) refuse_card("expected a path", node, file);
  return paths;
}

/// Reads `data_files`: a path, a list of paths, or a list of splits with their paths.
inline std::vector<SplitPatterns> read_data_files(const YamlNode& node, const std::string& file) {
  using Kind = YamlNode::Kind;
  const bool of_splits =
      node.kind == Kind::list && !node.items.empty() && node.items.front().kind == Kind::map;
  if (!of_splits) return {{"train", paths_in_repository(node, file)}};
  std::vector<SplitPatterns> splits;
  std::set<std::string> names;
  for (const auto& item : node.items) {
    const auto* const split = item.find("split");
    const auto* const path = item.find("path");
    if (split == nullptr || path == nullptr || split->text.empty()) {
      refuse_card("expected 'split' and 'path'", item, file);
    }
    if (!names.insert(split->text).second) {
      refuse_card("has the split '" + split->text + "' again", item, file);
    }
    splits.push_back({split->text, paths_in_repository(*path, file)});
  }
  return splits;
}

inline bool is_yes(const YamlNode& node, const std::string& file) {
  constexpr std::array<std::string_view, 3> yes{"true", "True", "TRUE"};
  constexpr std::array<std::string_view, 3> no{"false", "False", "FALSE"};
  if (std::ranges::count(yes, node.text) > 0) return true;
  if (std::ranges::count(no, node.text) == 0) refuse_card("expected true or false", node, file);
  return false;
}

inline DatasetConfig read_config(const YamlNode& node, const std::string& file) {
  const auto* const name = node.find("config_name");
  if (name == nullptr || name->text.empty()) refuse_card("expected 'config_name'", node, file);
  DatasetConfig config{.name = name->text};
  for (const auto& member : node.members) {
    if (member.key == "data_files") {
      config.splits = read_data_files(member, file);
    } else if (member.key == "data_dir") {
      config.folder = path_in_repository(member, file);
    } else if (member.key == "default") {
      config.is_default = is_yes(member, file);
    } else if (member.key != "config_name" && member.key != "description" &&
               member.key != "version") {
      config.not_read = member.key;
    }
  }
  return config;
}

/// The lines of a part of a card, and the number of the first one.
struct CardPart {
  std::string_view text = {};
  std::int64_t line = 1;
};

inline std::string_view take_card_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Returns the lines of the key `configs` in the header of a card, which is between two lines
/// `---`. Skips all other keys, so they may be any YAML.
inline CardPart configs_part(std::string_view card, const std::string& file) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (card.starts_with(mark)) card.remove_prefix(mark.size());
  std::int64_t number = 1;
  if (take_card_line(card) != "---") return {};
  CardPart part;
  bool inside = false;
  while (!card.empty()) {
    ++number;
    const auto rest = card;
    const auto line = take_card_line(card);
    if (line == "---") return part;
    const bool begins_key =
        !line.empty() && std::string_view{" #-"}.find(line.front()) == std::string_view::npos;
    if (begins_key) {
      inside = line.starts_with("configs:");
      if (inside && !part.text.empty()) {
        throw InputError{"has 'configs' again", {.object = file, .line = number}};
      }
      if (inside) part = {rest.substr(0, 0), number};
    }
    if (inside) {
      const auto end = static_cast<std::size_t>(card.data() - part.text.data());
      part.text = {part.text.data(), end};
    }
  }
  return {};  // a header without an end is no header
}

}  // namespace detail

/// Returns the configs in the header of a data set's card, its README.md. The list is empty if the
/// card has no header or the header has no configs. Throws `InputError` with the line if they
/// cannot be read.
[[nodiscard]] inline std::vector<DatasetConfig> configs_in_card(std::string_view card,
                                                                const std::string& file) {
  const auto part = detail::configs_part(card, file);
  if (part.text.empty()) return {};
  const auto root = read_yaml(part.text, file, part.line);
  const auto* const listed = root.find("configs");
  if (listed == nullptr) return {};
  std::vector<DatasetConfig> configs;
  std::set<std::string> names;
  for (const auto& node : listed->items) {
    configs.push_back(detail::read_config(node, file));
    if (const auto& name = configs.back().name; !names.insert(name).second) {
      detail::refuse_card("has the config '" + name + "' again", node, file);
    }
  }
  const bool empty = configs.empty() && (listed->kind != YamlNode::Kind::list) &&
                     (!listed->text.empty() || listed->kind == YamlNode::Kind::map);
  if (empty) detail::refuse_card("expected a list", *listed, file);
  return configs;
}

}  // namespace seqtrain::hub
