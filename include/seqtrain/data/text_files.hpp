#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Reads the files `*.txt` of a directory and of the directories in it, one text a file, in the
/// order of their paths, with the interface of `RecordStream`. Hidden files are left out. An
/// example keeps one value: the path of its file in the directory.
class TextFiles {
 public:
  /// Lists the files. Throws `InputError` if a directory cannot be listed or there is no text.
  explicit TextFiles(std::filesystem::path directory) : directory_{std::move(directory)} {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator i{directory_, error};
         !error && i != decltype(i){}; i.increment(error)) {
      std::error_code none;
      const bool is_hidden = i->path().filename().native().starts_with('.');
      if (is_hidden || i.depth() > 0) i.disable_recursion_pending();
      if (is_hidden) continue;
      if (i->path().extension() == ".txt" && i->is_regular_file(none)) {
        files_.push_back(i->path().lexically_relative(directory_));
      }
    }
    if (error) throw InputError{error.message(), {.object = name()}};
    if (files_.empty()) {
      throw InputError{
          "holds no text", {.object = name()}, "a text is a file whose name ends in .txt"};
    }
    std::ranges::sort(files_);
  }

  /// Reads a file. Calls `visit(example)` for its text, or `wrong(error)` if it cannot be read or
  /// is not UTF-8. Returns false at the end.
  template <class Visit, class Wrong>
  bool read(const Visit& visit, const Wrong& wrong) {
    const std::string file = files_[next_].string();
    const auto place = directory_ / files_[next_];
    ++next_;
    std::optional<MappedFile> text;
    try {
      std::error_code none;
      if (std::filesystem::file_size(place, none) > 0) text.emplace(place);
      if (text) Source{.text = text->text(), .name = place.string()}.demand_utf8(text->text());
    } catch (const InputError& error) {
      wrong(error);
      return next_ < files_.size();
    }
    const std::array<KeptValue, 1> kept{{{.text = file}}};
    Example example{.row = static_cast<std::int64_t>(next_), .kept = kept};
    if (text) example.text = text->text();
    visit(example);
    return next_ < files_.size();
  }

  /// Tells that `read` need not wait.
  [[nodiscard]] static bool ready() { return true; }
  /// Returns the number of an example's file, counted from 1.
  [[nodiscard]] static std::int64_t line_of(const Example& example) { return example.row; }
  [[nodiscard]] std::string name() const { return directory_.string(); }
  /// Returns the number of files read, in place of bytes.
  [[nodiscard]] std::int64_t bytes() const { return records(); }
  /// Returns the number of files.
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(files_.size()); }
  [[nodiscard]] std::int64_t records() const { return static_cast<std::int64_t>(next_); }

 private:
  std::filesystem::path directory_;
  std::vector<std::filesystem::path> files_;
  std::size_t next_ = 0;
};

}  // namespace seqtrain::data
