#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/data/text_folder.hpp>

namespace seqtrain::data {

/// The examples of one file, or of several files that form one split, in a format that another
/// component reads. It is an interface because that component needs a library. Several threads may
/// read different parts.
class ExampleFile {
 public:
  using Part = TextFolder::Part;  ///< neighbouring rows
  using Visit = std::function<void(const Example&)>;

  ExampleFile() = default;
  ExampleFile(const ExampleFile&) = delete;
  ExampleFile& operator=(const ExampleFile&) = delete;
  virtual ~ExampleFile() = default;

  /// Returns the name of the whole split for errors.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns the files, in the order of their rows.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
  /// Returns the size in bytes of the columns that are read.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual const Fields& fields() const = 0;
  /// Returns the names of the labels in the order of their ids, or none if the files do not say.
  [[nodiscard]] virtual std::vector<std::string> label_names() const = 0;
  /// Returns the parts, in order. The format chooses their size.
  [[nodiscard]] virtual std::vector<Part> parts() const = 0;

  /// Calls `visit` with every example of one part, in order. Throws `InputError` with file, row and
  /// column at the first wrong cell.
  virtual void read(const Part& part, const Visit& visit) const = 0;

  /// Makes an error about an example's label.
  [[nodiscard]] virtual InputError label_error(const std::string& problem, const Example& example,
                                               const std::string& advice) const = 0;

  /// Returns the parts, as a `Reader` does for a number of them, which is ignored.
  [[nodiscard]] std::vector<Part> parts(std::size_t) const { return parts(); }
  /// Returns how many bytes of the file end with the part.
  [[nodiscard]] static std::size_t end_of(const Part& part) { return part.bytes_to_end; }
};

/// Opens a file with `options.open`. Returns null if that function is not set or does not read the
/// file's format.
[[nodiscard]] inline std::unique_ptr<ExampleFile> open_example_file(
    const std::filesystem::path& place, const ReadOptions& options) {
  return options.open == nullptr ? nullptr : options.open(place, options);
}

/// Returns the files of a split that `options.open` opens, else those that `split_files` finds; a
/// directory of texts itself. Labels do not matter.
[[nodiscard]] inline std::vector<std::filesystem::path> files_at(const std::filesystem::path& place,
                                                                 ReadOptions options) {
  options.labelled = false;
  const auto opened = open_example_file(place, options);
  if (opened) return opened->files();
  return is_text_folder(place) ? std::vector{place} : split_files(place);
}

}  // namespace seqtrain::data
