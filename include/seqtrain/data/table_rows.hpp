#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/data/example.hpp>

namespace seqtrain::data {

/// The type of a column of a table that is written.
enum class ColumnType {
  text,
  texts,  ///< lists of texts
  boolean,
  integer,  ///< int64
  real,     ///< double
  float32,
  floats,  ///< lists of float of one length
  values   ///< values of an input: `ValueType` finds the type that holds all of them
};

/// A column of a table that is written. Each cell may be null; a list of `floats` then has NaNs.
struct TableColumn {
  std::string name = {};
  ColumnType type = ColumnType::text;
  std::size_t size = 0;  ///< the length of a list of `floats`

  bool operator==(const TableColumn&) const = default;
};

/// A file of a table, which appears under its name when it is complete.
class TableFile {
 public:
  TableFile() = default;
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  virtual ~TableFile() = default;

  /// Appends rows, each of which `RowWriter` has written.
  virtual void write(std::string_view rows) = 0;
  /// Makes the file visible.
  virtual void commit() = 0;
};

/// A function that creates the file of a table, such as `parquet::create`.
using CreateTable = std::unique_ptr<TableFile> (*)(const std::filesystem::path& target,
                                                   const std::vector<TableColumn>& columns);

/// The cell of a row. `kind` says which member has its value.
struct TableCell {
  /// The kind says which member of a cell has its value, and where the value is from.
  enum class Kind : char {
    null,
    text,
    json,     ///< `text` is a JSON value that is not a string
    untyped,  ///< `text` is from a file whose cells have no types
    integer,
    real,
    floats,  ///< `text` has their bytes
    texts
  };

  Kind kind = Kind::null;
  std::string_view text = {};
  std::int64_t integer = 0;
  double real = 0;
  std::vector<std::string_view> texts = {};
};

/// Writes a row as bytes, cell after cell. The bytes begin with their number.
class RowWriter {
 public:
  RowWriter() : bytes_(sizeof(std::uint64_t), '\0') {}
  /// Continues a row that is not finished.
  explicit RowWriter(std::string begun) : bytes_{std::move(begun)} {}

  /// Writes a cell without a value.
  void null() { put(TableCell::Kind::null); }
  /// Writes a text, or bytes of another kind.
  void text(std::string_view text, TableCell::Kind kind = TableCell::Kind::text) {
    put(kind);
    put_text(text);
  }
  /// Writes an integer.
  void integer(std::int64_t number) {
    put(TableCell::Kind::integer);
    put(number);
  }
  /// Writes a number.
  void real(double number) {
    put(TableCell::Kind::real);
    put(number);
  }
  /// Writes a list of numbers.
  void floats(std::span<const float> numbers) {
    text({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()},
         TableCell::Kind::floats);
  }
  /// Writes a list of texts.
  void texts(std::span<const std::string> texts) {
    put(TableCell::Kind::texts);
    put(std::uint64_t{texts.size()});
    for (const std::string& each : texts) put_text(each);
  }
  /// Writes a value of an input as it is.
  void value(const KeptValue& value) {
    if (value.is_json && value.text == "null") return null();
    text(value.text, value.is_json   ? TableCell::Kind::json
                     : value.is_cell ? TableCell::Kind::untyped
                                     : TableCell::Kind::text);
  }

  /// Returns the row without its number of bytes, which another `RowWriter` continues.
  [[nodiscard]] std::string unfinished() && { return std::move(bytes_); }
  /// Returns the row.
  [[nodiscard]] std::string finished() && {
    const std::uint64_t size = bytes_.size();
    std::memcpy(bytes_.data(), &size, sizeof size);
    return std::move(bytes_);
  }

 private:
  template <class Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }

  std::string bytes_;
};

/// Reads rows that `RowWriter` has written.
class RowReader {
 public:
  /// Reads the rows of `bytes`, which must live as long as the cells.
  explicit RowReader(std::string_view bytes) : rest_{bytes} {}

  /// Moves to the next row. Returns false if the bytes have no further whole row.
  [[nodiscard]] bool next() {
    std::uint64_t size = 0;
    if (rest_.size() < sizeof size) return false;
    std::memcpy(&size, rest_.data(), sizeof size);
    if (rest_.size() < size) return false;
    row_ = rest_.substr(sizeof size, size - sizeof size);
    rest_.remove_prefix(size);
    return true;
  }

  /// Returns the bytes after the current row.
  [[nodiscard]] std::string_view rest() const { return rest_; }

  /// Returns the row's next cell.
  [[nodiscard]] TableCell cell() {
    TableCell cell{.kind = take<TableCell::Kind>()};
    using Kind = TableCell::Kind;
    if (cell.kind == Kind::integer) {
      cell.integer = take<std::int64_t>();
    } else if (cell.kind == Kind::real) {
      cell.real = take<double>();
    } else if (cell.kind == Kind::texts) {
      cell.texts.resize(take<std::uint64_t>());
      for (std::string_view& text : cell.texts) text = take_text();
    } else if (cell.kind != Kind::null) {
      cell.text = take_text();
    }
    return cell;
  }

 private:
  template <class Value>
  Value take() {
    Value value{};
    std::memcpy(&value, row_.data(), sizeof value);
    row_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view take_text() {
    const auto size = take<std::uint64_t>();
    const auto text = row_.substr(0, size);
    row_.remove_prefix(size);
    return text;
  }

  std::string_view rest_;
  std::string_view row_;
};

}  // namespace seqtrain::data
