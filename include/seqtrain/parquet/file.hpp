#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/is_parquet.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/parquet/cells.hpp>
#include <seqtrain/parquet/row_group.hpp>
#include <seqtrain/parquet/status.hpp>

namespace seqtrain::parquet {

/// Returns the names of a column's `ClassLabel`, or of the `ClassLabel` in its lists, in the order
/// of their ids. The list is empty if there is no such column. `metadata` is the value that Hugging
/// Face's `datasets` writes into a file's schema under the key `huggingface`. Throws `InputError`
/// if it is not JSON of that form.
[[nodiscard]] inline std::vector<std::string> class_names(std::string_view metadata,
                                                          const std::string& column,
                                                          const std::string& file) {
  const auto document = json::Document::parse(metadata, file + ": metadata huggingface");
  const auto info = document.root().find("info");
  const auto features = info ? info->find("features") : std::nullopt;
  auto feature = features ? features->find(column) : std::nullopt;
  std::vector<std::string> names;
  while (feature) {
    if (feature->is_array()) {  // short form of a list
      const auto items = feature->items();
      feature = items.size() == 1 ? std::optional{items.front()} : std::nullopt;
      continue;
    }
    if (const auto listed = feature->find("names")) {
      for (const auto& name : listed->items()) names.push_back(name.string_or_digits());
      break;
    }
    feature = feature->find("feature");
    if (feature && !feature->is_array() && !feature->is_object()) break;
  }
  return names;
}

/// An open Parquet file and the columns of text, pair and label in it. Several threads may use it.
class File {
 public:
  /// A row group's size.
  struct Group {
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t bytes = 0;  ///< bytes of the columns that are read
  };

  /// Reads the footer. Throws `InputError` that names the file if it is not a Parquet file or is
  /// damaged, and also the column if that is missing or has another type.
  File(const std::filesystem::path& path, const data::ReadOptions& options,
       const std::optional<data::Fields>& fields = {})
      : whole_{.file = path.string()} {
    demand_parquet(path);
    guarded(whole_, [&] {
      source_ = value_of(arrow::io::ReadableFile::Open(path.string()), whole_);
      const auto reader = open_reader(1);
      metadata_ = reader->parquet_reader()->metadata();
      find_columns(*reader, options, fields);
      find_groups();
      return true;
    });
  }

  [[nodiscard]] const std::string& name() const { return whole_.file; }
  [[nodiscard]] const data::Fields& fields() const { return fields_; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] const LabelForm& label_form() const { return form_; }
  /// Returns the columns: the text or its parts, then the pair, then the label or the labels, if
  /// there are any, then those to keep.
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] bool has_pair() const { return has_pair_; }
  /// Returns the number of columns of the text.
  [[nodiscard]] std::size_t texts() const {
    return std::max<std::size_t>(1, fields_.text_parts.size());
  }
  /// Returns the index of the first column of labels.
  [[nodiscard]] std::size_t first_label() const { return texts() + (has_pair_ ? 1 : 0); }
  /// Returns the index of the first column to keep.
  [[nodiscard]] std::size_t first_kept() const { return columns_.size() - fields_.keep.size(); }

  /// Returns a slice of a row group. It has `rows_a_slice` rows unless it is the last one.
  [[nodiscard]] Slice slice(std::size_t group, std::int64_t rows_a_slice,
                            std::int64_t index) const {
    const auto row_group = open_group(group, rows_a_slice);
    Slice slice = row_group->take(index);
    if (row_group->is_done()) close(group, row_group);
    return slice;
  }

 private:
  void demand_parquet(const std::filesystem::path& path) const {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) throw whole_.error("no such file");
    const std::string first = data::four_bytes(path);
    if (first == "PARE") throw whole_.error("is encrypted", 0, "decrypt it first");
    if (first != data::parquet_magic) {
      throw whole_.error("is not a Parquet file: it does not begin with PAR1", 0, "see what it is");
    }
    if (std::filesystem::file_size(path, error) < 12 ||
        data::four_bytes(path, true) != data::parquet_magic) {
      throw whole_.error("is cut off: it does not end with PAR1", 0, "fetch it again");
    }
  }

  [[nodiscard]] std::unique_ptr<::parquet::arrow::FileReader> open_reader(
      std::int64_t batch_size) const {
    ::parquet::ReaderProperties properties;
    properties.enable_buffered_stream();
    properties.set_buffer_size(std::int64_t{1} << 18);
    properties.set_page_checksum_verification(true);
    ::parquet::ArrowReaderProperties arrow_properties{/*use_threads=*/false};
    arrow_properties.set_pre_buffer(false);
    arrow_properties.set_batch_size(batch_size);
    ::parquet::arrow::FileReaderBuilder builder;
    demand(builder.Open(source_, properties, metadata_), whole_);
    std::unique_ptr<::parquet::arrow::FileReader> reader;
    demand(builder.properties(arrow_properties)->Build(&reader), whole_);
    return reader;
  }

  void find_columns(::parquet::arrow::FileReader& reader, const data::ReadOptions& options,
                    const std::optional<data::Fields>& fields) {
    std::shared_ptr<arrow::Schema> schema;
    demand(reader.GetSchema(&schema), whole_);
    const auto names = schema->field_names();
    data::refuse_columns(options, name());
    fields_ = fields ? *fields : data::choose_fields(names, options, name());
    const auto found = data::find_columns(names, fields_, name());
    const auto add = [&](std::size_t i) -> const arrow::DataType& {
      Column& column = columns_.emplace_back(Column{.place = whole_, .leaves = {}});
      column.place.column = names[i];
      add_leaves(reader.manifest().schema_fields.at(i), column.leaves);
      return *schema->field(static_cast<int>(i))->type();
    };
    for (const std::size_t text : found.texts) check_text(add(text));
    has_pair_ = found.pair.has_value();
    if (found.pair) check_text(add(*found.pair));
    if (found.label) check_label(add(*found.label), schema->metadata().get());
    for (const std::size_t label : found.labels) check_column_of_label(add(label));
    for (const std::size_t kept : found.keep) add(kept);
  }

  static void add_leaves(const ::parquet::arrow::SchemaField& field, std::vector<int>& leaves) {
    if (field.is_leaf()) leaves.push_back(field.column_index);
    for (const auto& child : field.children) add_leaves(child, leaves);
  }

  [[nodiscard]] InputError wrong_type(const arrow::DataType& type, const std::string& expected,
                                      const std::string& advice = {}) const {
    return InputError{"holds " + type.ToString() + ", expected " + expected,
                      {.object = name(), .field = columns_.back().place.column},
                      advice};
  }

  void check_text(const arrow::DataType& type) const {
    if (detail::is_text(type) || type.id() == arrow::Type::NA) return;
    throw wrong_type(type, "strings");
  }

  void check_column_of_label(const arrow::DataType& type) {
    form_.as_json = fields_.label_numbers;
    if (detail::is_text(type) || detail::is_number(type)) return;
    if (fields_.label_numbers && type.id() == arrow::Type::NA) return;
    throw wrong_type(type, fields_.label_numbers ? "numbers" : "0 or 1");
  }

  void check_label(const arrow::DataType& type, const arrow::KeyValueMetadata* metadata) {
    form_.as_json = fields_.label_as_json;
    form_.skips_nulls = fields_.label_numbers && !fields_.label_required;
    const bool lists = detail::is_list(type);
    const arrow::DataType& item =
        lists ? *static_cast<const arrow::BaseListType&>(type).value_type() : type;
    const bool known =
        detail::is_text(item) || detail::is_number(item) || item.id() == arrow::Type::NA;
    if (!known) throw wrong_type(type, "names, numbers or lists of them");
    if (!arrow::is_integer(item.id()) || metadata == nullptr) return;
    const int key = metadata->FindKey("huggingface");
    if (key >= 0) form_.names = class_names(metadata->value(key), fields_.label, name());
  }

  void find_groups() {
    std::int64_t first = 0;
    for (int i = 0; i < metadata_->num_row_groups(); ++i) {
      const auto group = metadata_->RowGroup(i);
      const std::int64_t rows = group->num_rows();
      if (rows < 0 || rows > most_rows - first) {
        throw whole_.damage("it says that it has " + std::to_string(rows) + " rows in a row group");
      }
      std::int64_t bytes = 0;
      for (const Column& column : columns_) {
        for (const int leaf : column.leaves) {
          const std::int64_t size = group->ColumnChunk(leaf)->total_uncompressed_size();
          bytes += std::clamp(size, std::int64_t{0}, most_bytes);
        }
      }
      groups_.push_back({.first_row = first, .rows = rows, .bytes = bytes});
      first += rows;
    }
  }

  std::shared_ptr<RowGroup> open_group(std::size_t group, std::int64_t rows_a_slice) const {
    const std::lock_guard lock{mutex_};
    auto& known = open_[group];
    if (!known) {
      known = std::make_shared<RowGroup>(guarded(whole_, [&] { return open_reader(rows_a_slice); }),
                                         GroupRows{.number = static_cast<int>(group),
                                                   .first_row = groups_[group].first_row,
                                                   .rows = groups_[group].rows,
                                                   .rows_a_slice = rows_a_slice},
                                         columns_);
    }
    return known;
  }

  void close(std::size_t group, const std::shared_ptr<RowGroup>& row_group) const {
    const std::lock_guard lock{mutex_};
    const auto found = open_.find(group);
    if (found != open_.end() && found->second == row_group) open_.erase(found);
  }

  static constexpr std::int64_t most_rows = std::int64_t{1} << 32;
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 40;

  Place whole_;
  std::shared_ptr<arrow::io::RandomAccessFile> source_;
  std::shared_ptr<::parquet::FileMetaData> metadata_;
  data::Fields fields_;
  std::vector<Column> columns_;
  bool has_pair_ = false;
  LabelForm form_;
  std::vector<Group> groups_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::shared_ptr<RowGroup>> open_;
};

}  // namespace seqtrain::parquet
