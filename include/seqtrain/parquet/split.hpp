#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/is_parquet.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/parquet/cells.hpp>
#include <seqtrain/parquet/file.hpp>

namespace seqtrain::parquet {

/// The examples of Parquet files, one file after the other. Memory holds one slice per thread and
/// slices that were decoded for other threads, which are at most a row group.
class Split final : public data::ExampleFile {
 public:
  /// Reads the footers. The columns of the first file decide which are read. Throws `InputError`
  /// that names the file if one is not a Parquet file, is damaged or does not fit the others.
  Split(std::string name, const std::vector<std::filesystem::path>& files,
        const data::ReadOptions& options)
      : name_{std::move(name)} {
    for (const auto& file : files) add(file, options);
    find_slices();
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] const data::Fields& fields() const override { return files_.front()->fields(); }
  [[nodiscard]] std::size_t bytes() const override {
    return slices_.empty() ? 0 : slices_.back().part.bytes_to_end;
  }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> paths;
    for (const auto& file : files_) paths.emplace_back(file->name());
    return paths;
  }
  [[nodiscard]] std::vector<std::string> label_names() const override {
    return files_.front()->label_form().names;
  }

  using ExampleFile::parts;
  [[nodiscard]] std::vector<Part> parts() const override {
    std::vector<Part> parts;
    for (const auto& slice : slices_) parts.push_back(slice.part);
    return parts;
  }

  void read(const Part& part, const Visit& visit) const override {
    const SlicePlace& place = slice_at(part.first);
    const File& file = *files_[place.file];
    const Slice slice = file.slice(place.group, place.rows_a_slice, place.index);
    std::vector<Place> places;
    for (const Column& column : file.columns()) {
      places.push_back(column.place);
      places.back().first_row = slice.first_row;
    }
    RowTexts texts;
    for (std::size_t i = 0; i < file.texts(); ++i) texts.add(*slice.columns[i], places[i]);
    const std::size_t pair_column = file.texts();
    std::optional<Texts> pairs;
    if (file.has_pair()) pairs.emplace(*slice.columns[pair_column], places[pair_column]);
    std::vector<LabelCells> labels;
    for (std::size_t i = file.first_label(); i < file.first_kept(); ++i) {
      labels.emplace_back(*slice.columns[i], file.label_form(), places[i]);
    }
    std::vector<KeptCells> kept;
    for (std::size_t i = file.first_kept(); i < places.size(); ++i) {
      kept.emplace_back(*slice.columns[i], places[i]);
    }
    const bool column_each = !file.fields().label_columns.empty();
    data::ColumnLabels column_labels{file.fields()};
    std::vector<data::KeptValue> values(kept.size());
    for (std::int64_t row = 0; row < slice.rows; ++row) {
      data::Example example{.row = static_cast<std::int64_t>(part.first) + row + 1};
      example.text = texts.at(row);
      if (pairs) example.text_pair = pairs->at(row);
      if (pairs && file.fields().pair_required) {
        demand_text(example.text_pair, places[pair_column], row);
      }
      if (column_each) {
        example.label =
            label_of(labels, row, column_labels, std::span{places}.subspan(file.first_label()));
      } else if (!labels.empty()) {
        example.label = labels.front().at(row);
        const bool is_skipped = !file.fields().label_required && example.label;
        if (is_skipped && data::is_blank(*example.label)) example.label.reset();
      }
      for (std::size_t i = 0; i < kept.size(); ++i) values[i] = kept[i].at(row);
      example.kept = values;
      visit(example);
    }
  }

  [[nodiscard]] InputError label_error(const std::string& problem, const data::Example& example,
                                       const std::string& advice) const override {
    const SlicePlace& place = slice_at(static_cast<std::size_t>(example.row - 1));
    const File& file = *files_[place.file];
    return file.columns()[file.first_kept() - 1].place.error(
        problem, example.row - 1 - place.rows_before, advice);
  }

 private:
  /// The place of a slice.
  struct SlicePlace {
    Part part;
    std::size_t file = 0;
    std::int64_t rows_before = 0;  ///< rows of the files before it
    std::size_t group = 0;
    std::int64_t rows_a_slice = 0;
    std::int64_t index = 0;  ///< in the row group
  };

  /// The texts of a row in one column or several, whose texts are joined. A null is no text of
  /// several.
  class RowTexts {
   public:
    void add(const arrow::Array& array, const Place& place) {
      columns_.emplace_back(array, place);
      place_ = &place;
    }

    /// Returns the text of a row. It is valid until the next call.
    [[nodiscard]] std::string_view at(std::int64_t row) {
      if (columns_.size() == 1) return demand_text(columns_.front().at(row), *place_, row);
      parts_.clear();
      for (const Texts& column : columns_) parts_.push_back(column.at(row).value_or(""));
      data::join_texts(parts_, text_);
      return text_;
    }

   private:
    std::vector<Texts> columns_;
    const Place* place_ = nullptr;
    std::vector<std::string_view> parts_;
    std::string text_;
  };

  /// Returns the label of a row whose labels have a column each, at `places`.
  static std::optional<std::string_view> label_of(std::vector<LabelCells>& cells, std::int64_t row,
                                                  data::ColumnLabels& labels,
                                                  std::span<const Place> places) {
    labels.begin_record();
    for (std::size_t i = 0; i < cells.size(); ++i) labels.set(i, cells[i].at(row).value_or("null"));
    const std::string problem = labels.finish_record();
    if (!problem.empty()) throw places[labels.wrong_column()].error(problem, row);
    return labels.label();
  }

  static std::string_view demand_text(const std::optional<std::string_view>& text,
                                      const Place& place, std::int64_t row) {
    if (!text) throw place.error("expected a string, found null", row);
    return *text;
  }

  void add(const std::filesystem::path& path, const data::ReadOptions& options) {
    std::optional<data::Fields> fields;
    if (!files_.empty()) fields = files_.front()->fields();
    const auto& file = files_.emplace_back(std::make_unique<File>(path, options, fields));
    if (file->label_form().names != label_names()) {
      throw InputError{"has other label names than " + files_.front()->name(),
                       {.object = path.string(), .field = file->fields().label}};
    }
  }

  /// Cuts the row groups into at most about a million slices.
  void find_slices() {
    std::int64_t rows = 0;
    for (const auto& file : files_) {
      for (const File::Group& group : file->groups()) rows += group.rows;
    }
    const std::int64_t fewest = std::max<std::int64_t>(64, rows >> 20);
    Part part;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      const auto rows_before = static_cast<std::int64_t>(part.end);
      for (std::size_t group = 0; group < files_[file]->groups().size(); ++group) {
        const File::Group& size = files_[file]->groups()[group];
        const std::int64_t bytes_a_row = std::max<std::int64_t>(1, size.bytes / (size.rows + 1));
        const std::int64_t slice = std::clamp(slice_bytes / bytes_a_row, fewest, fewest << 6);
        for (std::int64_t begin = 0; begin < size.rows; begin += slice) {
          const std::int64_t end = std::min(begin + slice, size.rows);
          part.first = part.end;
          part.end += static_cast<std::size_t>(end - begin);
          part.bytes_to_end += static_cast<std::size_t>((end - begin) * bytes_a_row);
          slices_.push_back({part, file, rows_before, group, slice, begin / slice});
        }
      }
    }
  }

  [[nodiscard]] const SlicePlace& slice_at(std::size_t row) const {
    const auto after = std::ranges::upper_bound(
        slices_, row, {}, [](const SlicePlace& place) { return place.part.first; });
    return *std::prev(after);
  }

  static constexpr std::int64_t slice_bytes = std::int64_t{1} << 18;

  std::string name_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<SlicePlace> slices_;
};

/// Opens the Parquet files of a split, as `data::split_files` finds them, for
/// `data::ReadOptions{.open = parquet::open}`. Returns null if none of them ends in .parquet or
/// begins with PAR1, or if the options give another format.
[[nodiscard]] inline std::unique_ptr<data::ExampleFile> open(const std::filesystem::path& place,
                                                             const data::ReadOptions& options) {
  if (options.format) return nullptr;
  const auto files = data::split_files(place);
  if (!data::is_parquet(files)) return nullptr;
  return std::make_unique<Split>(place.string(), files, options);
}

}  // namespace seqtrain::parquet
