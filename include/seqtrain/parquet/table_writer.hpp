#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/io/interfaces.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/spool_file.hpp>
#include <seqtrain/data/table_rows.hpp>
#include <seqtrain/data/value_type.hpp>
#include <seqtrain/parquet/status.hpp>

namespace seqtrain::parquet {

namespace detail {

/// Passes what Arrow writes on to a file that appears when it is complete.
class AtomicOutput final : public arrow::io::OutputStream {
 public:
  explicit AtomicOutput(const std::filesystem::path& target) : file_{target} {}

  using OutputStream::Write;
  arrow::Status Write(const void* data, std::int64_t bytes) override {
    try {
      file_.write({static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)});
    } catch (const std::exception& error) {
      failure_ = std::current_exception();
      return arrow::Status::IOError(error.what());
    }
    return arrow::Status::OK();
  }
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override {
    return static_cast<std::int64_t>(file_.size());
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  [[nodiscard]] bool closed() const override { return closed_; }

  void commit() { file_.commit(); }
  /// Throws the error of the file, if it has one, or else what Arrow says.
  void demand(const arrow::Status& status, const std::string& name) const {
    if (failure_) std::rethrow_exception(failure_);
    if (!status.ok()) throw Error{"cannot be written: " + status.message(), {.object = name}};
  }

 private:
  AtomicFile file_;
  std::exception_ptr failure_;
  bool closed_ = false;
};

[[nodiscard]] inline std::shared_ptr<arrow::DataType> arrow_type(const data::TableColumn& column) {
  using enum data::ColumnType;
  switch (column.type) {
    case texts:
      return arrow::list(arrow::utf8());
    case boolean:
      return arrow::boolean();
    case integer:
      return arrow::int64();
    case real:
      return arrow::float64();
    case float32:
      return arrow::float32();
    case floats:
      return arrow::fixed_size_list(arrow::float32(), static_cast<std::int32_t>(column.size));
    default:
      return arrow::utf8();
  }
}

/// Gathers the cells of a column.
class CellBuilder {
 public:
  CellBuilder(const data::TableColumn& column, const std::shared_ptr<arrow::DataType>& arrow)
      : type_{column.type},
        missing_(column.size, std::numeric_limits<float>::quiet_NaN()),
        builder_{arrow::MakeBuilder(arrow).ValueOrDie()} {}

  [[nodiscard]] arrow::Status append(const data::TableCell& cell) {
    using enum data::ColumnType;
    const bool untyped = cell.kind == data::TableCell::Kind::untyped;
    const bool is_text = type_ == text;
    if (cell.kind == data::TableCell::Kind::null || (untyped && cell.text.empty() && !is_text)) {
      return type_ == floats ? append_floats(missing_) : builder_->AppendNull();
    }
    switch (type_) {
      case texts:
        return append_texts(cell.texts);
      case boolean:
        return as<arrow::BooleanBuilder>().Append(cell.text == "true");
      case integer:
        return as<arrow::Int64Builder>().Append(integer_of(cell));
      case real:
        return as<arrow::DoubleBuilder>().Append(real_of(cell));
      case float32:
        return as<arrow::FloatBuilder>().Append(static_cast<float>(cell.real));
      case floats:
        return append_floats(numbers_of(cell.text));
      default:
        return as<arrow::StringBuilder>().Append(cell.text);
    }
  }

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> finish() { return builder_->Finish(); }

 private:
  template <class Builder>
  Builder& as() {
    return static_cast<Builder&>(*builder_);
  }

  static std::int64_t integer_of(const data::TableCell& cell) {
    if (cell.kind == data::TableCell::Kind::integer) return cell.integer;
    return parse_number<std::int64_t>(cell.text).value_or(0);
  }
  static double real_of(const data::TableCell& cell) {
    if (cell.kind == data::TableCell::Kind::real) return cell.real;
    return parse_number<double>(cell.text).value_or(0);
  }

  arrow::Status append_texts(const std::vector<std::string_view>& texts) {
    auto& lists = as<arrow::ListBuilder>();
    ARROW_RETURN_NOT_OK(lists.Append());
    auto& items = static_cast<arrow::StringBuilder&>(*lists.value_builder());
    for (const std::string_view text : texts) ARROW_RETURN_NOT_OK(items.Append(text));
    return arrow::Status::OK();
  }

  static std::vector<float> numbers_of(std::string_view bytes) {
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
    return numbers;
  }

  arrow::Status append_floats(const std::vector<float>& numbers) {
    auto& lists = as<arrow::FixedSizeListBuilder>();
    ARROW_RETURN_NOT_OK(lists.Append());
    auto& items = static_cast<arrow::FloatBuilder&>(*lists.value_builder());
    return items.AppendValues(numbers.data(), static_cast<std::int64_t>(numbers.size()));
  }

  data::ColumnType type_;
  std::vector<float> missing_;  ///< Arrow does not read a list of one length that is null
  std::unique_ptr<arrow::ArrayBuilder> builder_;
};

}  // namespace detail

/// Writes a table as Parquet, in row groups of a bounded size, so memory does not grow. If there
/// are values of an input, whose types the last row may decide, the rows wait on the disk until
/// `commit`. Failures throw `Error` with the name of the file.
class TableWriter final : public data::TableFile {
 public:
  /// Creates a file that is not yet visible.
  TableWriter(const std::filesystem::path& target, std::vector<data::TableColumn> columns)
      : name_{target.string()},
        columns_{std::move(columns)},
        types_(columns_.size()),
        output_{std::make_shared<detail::AtomicOutput>(target)} {
    for (const auto& column : columns_) {
      if (column.type == data::ColumnType::values && !waiting_) waiting_.emplace(target);
    }
    if (!waiting_) open();
  }

  void write(std::string_view rows) override {
    if (!waiting_) {
      take(rows);
      return;
    }
    data::RowReader reader{rows};
    while (reader.next()) {
      for (data::ValueType& type : types_) type.add(reader.cell());
    }
    waiting_->write(std::as_bytes(std::span{rows}));
  }

  void commit() override {
    if (waiting_) write_waiting();
    flush();
    output_->demand(writer_->Close(), name_);
    output_->commit();
  }

 private:
  static constexpr std::int64_t most_rows = std::int64_t{1} << 17;  ///< of a row group
  static constexpr std::size_t most_bytes = std::size_t{1} << 24;

  void open() {
    arrow::FieldVector fields;
    for (const auto& column : columns_) {
      fields.push_back(arrow::field(column.name, detail::arrow_type(column)));
      builders_.emplace_back(column, fields.back()->type());
    }
    schema_ = arrow::schema(std::move(fields));
    const auto properties = ::parquet::WriterProperties::Builder{}
                                .compression(::parquet::Compression::SNAPPY)
                                ->max_row_group_length(most_rows)
                                ->build();
    const auto keep_types = ::parquet::ArrowWriterProperties::Builder{}.store_schema()->build();
    auto opened = ::parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(),
                                                     output_, properties, keep_types);
    output_->demand(opened.status(), name_);
    writer_ = *std::move(opened);
  }

  /// Writes the rows that have waited, now that the types of all columns are known.
  void write_waiting() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].type == data::ColumnType::values) columns_[i].type = types_[i].type();
    }
    open();
    std::string part;
    waiting_->read([&](std::span<const std::byte> bytes) {
      part.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      part.erase(0, take(part));
    });
    waiting_.reset();
  }

  /// Appends whole rows. Returns the number of their bytes.
  std::size_t take(std::string_view rows) {
    data::RowReader reader{rows};
    for (std::string_view rest = rows; reader.next(); rest = reader.rest()) {
      for (auto& builder : builders_) output_->demand(builder.append(reader.cell()), name_);
      bytes_ += rest.size() - reader.rest().size();
      if (++rows_ == most_rows || bytes_ >= most_bytes) flush();
    }
    return rows.size() - reader.rest().size();
  }

  /// Writes the rows as a row group.
  void flush() {
    if (rows_ == 0) return;
    arrow::ArrayVector arrays;
    for (auto& builder : builders_) {
      auto array = builder.finish();
      output_->demand(array.status(), name_);
      arrays.push_back(*std::move(array));
    }
    output_->demand(writer_->WriteTable(*arrow::Table::Make(schema_, arrays), most_rows), name_);
    rows_ = 0;
    bytes_ = 0;
  }

  std::string name_;
  std::vector<data::TableColumn> columns_;
  std::vector<data::ValueType> types_;  ///< of all columns
  std::shared_ptr<detail::AtomicOutput> output_;
  std::optional<SpoolFile> waiting_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<::parquet::arrow::FileWriter> writer_;
  std::vector<detail::CellBuilder> builders_;
  std::int64_t rows_ = 0;  ///< in the builders
  std::size_t bytes_ = 0;
};

/// Creates a Parquet file of a table.
[[nodiscard]] inline std::unique_ptr<data::TableFile> create(
    const std::filesystem::path& target, const std::vector<data::TableColumn>& columns) {
  return std::make_unique<TableWriter>(target, columns);
}

}  // namespace seqtrain::parquet
