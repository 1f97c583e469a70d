#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/example_file.hpp>

namespace seqtrain::data {

/// Reads the examples of an `ExampleFile` part by part, with the interface of `RecordStream`. A
/// wrong row ends the stream, because such a file is no sequence of records.
class ExampleStream {
 public:
  explicit ExampleStream(std::unique_ptr<ExampleFile> file)
      : file_{std::move(file)}, parts_{file_->parts()} {}

  /// Reads a part. Calls `visit(example)` for each row. Returns false at the end. Throws
  /// `InputError` if a row is wrong or the file has none.
  template <class Visit, class Wrong>
  bool read(const Visit& visit, const Wrong&) {
    if (parts_.empty()) throw InputError{"holds no example", {.object = name()}};
    file_->read(parts_[next_], [&](const Example& example) {
      ++records_;
      visit(example);
    });
    bytes_ = static_cast<std::int64_t>(ExampleFile::end_of(parts_[next_]));
    return ++next_ < parts_.size();
  }

  /// Tells that `read` need not wait.
  [[nodiscard]] static bool ready() { return true; }
  /// Returns the number of an example's row.
  [[nodiscard]] static std::int64_t line_of(const Example& example) { return example.row; }
  [[nodiscard]] std::string name() const { return file_->name(); }
  /// Returns the number of bytes read.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Returns the number of bytes of the file.
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(file_->bytes()); }
  [[nodiscard]] std::int64_t records() const { return records_; }

 private:
  std::unique_ptr<ExampleFile> file_;
  std::vector<ExampleFile::Part> parts_;
  std::size_t next_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t records_ = 0;
};

}  // namespace seqtrain::data
