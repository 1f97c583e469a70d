#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

namespace detail {

/// Returns a directory's entries that satisfy `wanted`, sorted by the bytes of their names. Hidden
/// entries are left out.
template <class Wanted>
std::vector<std::filesystem::directory_entry> sorted_entries(const std::filesystem::path& directory,
                                                             const Wanted& wanted) {
  std::vector<std::filesystem::directory_entry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator i{directory, error}; !error && i != decltype(i){};
       i.increment(error)) {
    const bool hidden = i->path().filename().native().starts_with('.');
    if (!hidden && wanted(*i)) entries.push_back(*i);
  }
  if (error) throw InputError{error.message(), {.object = directory.string()}};
  std::ranges::sort(entries);
  return entries;
}

}  // namespace detail

/// Tells whether a path is a directory, i.e. can be read by `TextFolder`.
inline bool is_text_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// Reads one text per file, with one folder per label: `<directory>/<label>/*.txt`, as in
/// Stanford's IMDB reviews. The folder `unsup`, whose texts have no label, is skipped, and so are
/// folders without such files. The files of the labels are interleaved in proportion to their
/// numbers, so that the first part of the examples has about the label balance of the whole. A
/// TextFolder is immutable, so several threads may read different parts.
class TextFolder {
 public:
  static constexpr std::string_view unlabelled = "unsup";

  /// Neighbouring files.
  struct Part {
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t bytes_to_end = 0;  ///< bytes of all files up to the end of this part
  };

  /// Lists the files. Throws `InputError` if a directory cannot be listed or there is no example.
  explicit TextFolder(std::filesystem::path directory) : directory_{std::move(directory)} {
    const auto is_label = [](const auto& entry) {
      std::error_code error;
      return entry.path().filename() != unlabelled && entry.is_directory(error);
    };
    for (const auto& folder : detail::sorted_entries(directory_, is_label)) add(folder.path());
    if (files_.empty()) {
      throw InputError{
          "holds no example", {.object = name()}, "texts lie in it as <label>/<name>.txt"};
    }
    std::ranges::stable_sort(files_, {}, &File::place);
  }

  [[nodiscard]] std::string name() const { return directory_.string(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns the names of the folders, sorted.
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }
  /// Returns the number of texts in the folder of a label.
  [[nodiscard]] std::size_t texts_of(std::size_t label) const {
    return static_cast<std::size_t>(std::ranges::count(files_, label, &File::label));
  }

  /// Cuts the files into parts of about `bytes`, in order.
  [[nodiscard]] std::vector<Part> parts(std::size_t bytes) const {
    std::vector<Part> result;
    for (Part part; part.end < files_.size(); result.push_back(part)) {
      const std::size_t wanted = part.bytes_to_end + bytes;
      part.first = part.end;
      do {
        part.bytes_to_end += files_[part.end++].bytes;
      } while (part.end < files_.size() && part.bytes_to_end < wanted);
    }
    return result;
  }

  /// Returns how many bytes of the folder end with the part.
  [[nodiscard]] static std::size_t end_of(const Part& part) { return part.bytes_to_end; }

  /// Calls `visit` with every text of a part, in order. An empty file is an empty text. Throws
  /// `InputError` with file and line if a file is not UTF-8 or cannot be read.
  template <class Visit>
  void read(const Part& part, Visit&& visit) const {
    for (std::size_t i = part.first; i < part.end; ++i) {
      if (files_[i].bytes == 0) {
        visit(Example{.text = "", .label = labels_[files_[i].label]});
        continue;
      }
      const MappedFile file{path(files_[i]), MappedFile::Pages::read_only,
                            MappedFile::Changes::watched};
      const Source source{.text = file.text(), .name = path(files_[i]).string()};
      while_unchanged(file, [&] {
        source.demand_utf8(source.text);
        visit(
            Example{.text = source.text, .label = labels_[files_[i].label], .record = source.text});
      });
    }
  }

  /// Makes an error about an example's label.
  [[nodiscard]] InputError label_error(const std::string& problem, const Example& example,
                                       const std::string& advice) const {
    return InputError{problem, {.object = (directory_ / *example.label).string()}, advice};
  }

 private:
  struct File {
    std::string name;
    std::size_t label;
    std::size_t bytes;
    double place;  ///< relative position among its label's files, 0 to 1
  };

  void add(const std::filesystem::path& folder) {
    const auto is_text = [](const auto& entry) { return entry.path().extension() == ".txt"; };
    const auto entries = detail::sorted_entries(folder, is_text);
    if (entries.empty()) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::error_code error;
      const auto size = entries[i].file_size(error);
      if (error) throw InputError{error.message(), {.object = entries[i].path().string()}};
      files_.push_back(
          {.name = entries[i].path().filename().string(),
           .label = labels_.size(),
           .bytes = size,
           .place = (static_cast<double>(i) + 0.5) / static_cast<double>(entries.size())});
      bytes_ += size;
    }
    labels_.push_back(folder.filename().string());
    Source{.text = labels_.back(), .name = folder.string()}.demand_utf8(labels_.back());
  }

  [[nodiscard]] std::filesystem::path path(const File& file) const {
    return directory_ / labels_[file.label] / file.name;
  }

  std::filesystem::path directory_;
  std::vector<std::string> labels_;
  std::vector<File> files_;
  std::size_t bytes_ = 0;
};

}  // namespace seqtrain::data
