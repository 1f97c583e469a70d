#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/data/archive.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/record_stream.hpp>

namespace seqtrain::cli {

/// A text that is read like a file.
class TextInput {
 public:
  explicit TextInput(std::string text) : text_{std::move(text)} {}

  /// Reads the next bytes. Returns their number, which is 0 at the end.
  [[nodiscard]] std::size_t read(std::span<char> to) {
    const std::size_t count = text_.copy(to.data(), to.size());
    text_.erase(0, count);
    return count;
  }

  [[nodiscard]] bool ready() const { return !text_.empty(); }

 private:
  std::string text_;
};

/// The text in a file that is compressed by gzip or zstd.
class ArchiveInput {
 public:
  ArchiveInput(MappedFile file, data::Compression compression, std::string name)
      : file_{std::make_unique<MappedFile>(std::move(file))},
        reader_{file_->text(), compression, std::move(name)} {}

  /// Reads the next bytes. Returns their number, which is 0 at the end.
  [[nodiscard]] std::size_t read(std::span<char> to) { return reader_.read(to); }
  [[nodiscard]] static bool ready() { return true; }
  /// Returns nothing: the size of the text is not known.
  [[nodiscard]] static std::optional<std::int64_t> size() { return {}; }

 private:
  std::unique_ptr<MappedFile> file_;
  data::ArchiveReader reader_;
};

/// The records to label, whose beginning can be looked at before they are read.
class PredictInput {
 public:
  explicit PredictInput(InputDescriptor rest) : rest_{std::move(rest)} {}

  /// Opens a file, which may be compressed. Throws `InputError` if it cannot be read.
  static PredictInput of_file(const std::string& file) {
    const int number = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) throw system_error<InputError>("cannot be read", file);
    PredictInput input{InputDescriptor{number, file}};
    input.owned_ = OwnedDescriptor{number};
    std::array<char, 4> first{};
    const auto count = ::pread(number, first.data(), first.size(), 0);  // fails for a pipe
    const std::string_view bytes{first.data(),
                                 static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    const auto compression = data::compression_of(bytes, file);
    if (bytes.empty() || compression == data::Compression::none) return input;
    input.rest_ =
        ArchiveInput{MappedFile{file, MappedFile::Pages::read_only, MappedFile::Changes::watched},
                     compression, file};
    return input;
  }

  /// Returns the first lines. Waits for the first of them if that has not been read.
  [[nodiscard]] const std::string& beginning() {
    constexpr std::size_t most = std::size_t{1} << 16;
    while (beginning_.size() < most && beginning_.find('\n') == std::string::npos) {
      std::string more(most, '\0');
      more.resize(read_rest(more));
      if (more.empty()) break;
      beginning_ += more;
    }
    return beginning_;
  }

  /// Reads the next bytes. Returns their number, which is 0 at the end.
  [[nodiscard]] std::size_t read(std::span<char> to) {
    if (beginning_.empty()) return read_rest(to);
    const std::size_t count = beginning_.copy(to.data(), to.size());
    beginning_.erase(0, count);
    return count;
  }

  [[nodiscard]] bool ready() const {
    return !beginning_.empty() || std::visit([](const auto& rest) { return rest.ready(); }, rest_);
  }
  /// Returns the size of the input in bytes, if it is known.
  [[nodiscard]] std::optional<std::int64_t> size() const {
    return std::visit([](const auto& rest) { return rest.size(); }, rest_);
  }

 private:
  std::size_t read_rest(std::span<char> to) {
    return std::visit([&](auto& rest) { return rest.read(to); }, rest_);
  }

  OwnedDescriptor owned_{-1};
  std::variant<InputDescriptor, ArchiveInput> rest_;
  std::string beginning_;
};

/// Tells whether the beginning of an input has a record with the fields of the options. Throws
/// `InputError` if the format or the fields are not clear. A wrong record is no error, because each
/// record has an answer of its own.
inline bool check_beginning(const std::string& beginning, const std::string& name,
                            const data::ReadOptions& options) {
  data::RecordStream<TextInput> records{TextInput{beginning}, name, options};
  bool found = false;
  const auto visit = [&found](const auto&) { found = true; };
  while (!found && records.read(visit, [](const auto&) {})) {
  }
  return found;
}

/// Tells whether the first records of a file can be read with these options.
inline bool fits(const std::string& beginning, const std::string& name,
                 const data::ReadOptions& options) {
  try {
    return check_beginning(beginning, name, options);
  } catch (const InputError&) {
    return false;
  }
}

/// The fields that a training run was told to read. They are empty if it was told none, or if the
/// model is not a run's.
struct FieldsOfRun {
  std::string text = {};
  std::string pair = {};
  std::string columns = {};

  /// Reads the record of the run to whose folder `model` belongs, if it does. Another program's
  /// file of that name is ignored.
  static FieldsOfRun of_model(const std::filesystem::path& model) {
    const auto file = model / ".." / "metrics.json";
    std::error_code none;
    if (!std::filesystem::exists(file, none)) return {};
    try {
      return read(file);
    } catch (const InputError&) {
      return {};
    }
  }

  [[nodiscard]] bool empty() const { return text.empty() && pair.empty() && columns.empty(); }

 private:
  static FieldsOfRun read(const std::filesystem::path& file) {
    const auto document = json::Document::load(file);
    const auto flags = document.root().at("flags");
    const auto value = [&flags](const char* name) {
      const auto found = flags.find(name);
      return found ? std::string{found->string()} : std::string{};
    };
    return {.text = value("text-field"), .pair = value("pair-field"), .columns = value("columns")};
  }
};

/// Returns the options for reading an input: the given fields, and in place of those that are not
/// given the run's if the input has them. `can_read(options)` tells whether it has them.
template <class CanRead>
data::ReadOptions options_for(const data::ReadOptions& given, const FieldsOfRun& run,
                              const CanRead& can_read) {
  auto named = given;
  if (named.text_field.empty()) named.text_field = run.text;
  if (named.pair_field.empty()) named.pair_field = run.pair;
  auto without_pair = named;  // texts without a second one may be labelled too
  without_pair.pair_field = given.pair_field;
  auto without_header = named;
  if (given.columns.empty()) {
    without_header.columns = split_at_commas(run.columns);
  }
  for (const auto& options : {named, without_pair, given, without_header}) {
    if (can_read(options)) return options;
  }
  return given;
}

}  // namespace seqtrain::cli
