#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>

#include <seqtrain/data/example.hpp>
#include <seqtrain/data/table_rows.hpp>
#include <seqtrain/parquet/split.hpp>
#include <seqtrain/parquet/table_writer.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::parquet {
namespace {

using data::ColumnType;
using data::RowWriter;

std::shared_ptr<arrow::Table> table_in(const std::filesystem::path& path) {
  const auto file = arrow::io::ReadableFile::Open(path.string()).ValueOrDie();
  const auto reader = ::parquet::arrow::OpenFile(file, arrow::default_memory_pool()).ValueOrDie();
  return reader->ReadTable().ValueOrDie();
}

std::string row_of_values(const std::vector<data::KeptValue>& values) {
  RowWriter row;
  for (const auto& value : values) row.value(value);
  return std::move(row).finished();
}

TEST(TableWriter, WritesTypedColumnsThatAppearWhenTheyAreComplete) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "a.parquet";
  const auto file = create(path, {{"label", ColumnType::text},
                                  {"score", ColumnType::real},
                                  {"labels", ColumnType::texts},
                                  {"value", ColumnType::float32},
                                  {"line", ColumnType::integer},
                                  {"embedding", ColumnType::floats, 2}});
  RowWriter row;
  row.text("good");
  row.real(0.75);
  row.texts(std::vector<std::string>{"a", "b,c"});
  row.real(0.1F);
  row.integer(7);
  row.floats(std::vector<float>{1, 2.5F});
  RowWriter nulls;
  for (int i = 0; i < 6; ++i) nulls.null();
  file->write(std::move(row).finished() + std::move(nulls).finished());
  EXPECT_FALSE(std::filesystem::exists(path));
  file->commit();
  const auto table = table_in(path);
  EXPECT_EQ(table->schema()->ToString(),
            "label: string\nscore: double\nlabels: list<element: string>\nvalue: float\n"
            "line: int64\nembedding: fixed_size_list<element: float>[2]");
  for (int i = 0; i < table->num_columns(); ++i) {
    EXPECT_EQ(table->column(i)->length(), 2);
    EXPECT_EQ(table->column(i)->null_count(), i < 5 ? 1 : 0) << table->field(i)->name();
  }
  EXPECT_NE(table->column(5)->GetScalar(1).ValueOrDie()->ToString().find("nan"), std::string::npos);
  const auto first = [&](int column) {
    return table->column(column)->GetScalar(0).ValueOrDie()->ToString();
  };
  EXPECT_EQ(first(0), "good");
  EXPECT_EQ(first(1), "0.75");
  EXPECT_EQ(first(2), "list<element: string>[a, b,c]");
  EXPECT_EQ(first(4), "7");
  EXPECT_NE(first(5).find("2.5"), std::string::npos) << first(5);
}

TEST(TableWriter, FindsTheTypesOfValuesOfTheInput) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "a.parquet";
  const auto file = create(path, {{"id", ColumnType::values},
                                  {"price", ColumnType::values},
                                  {"zip", ColumnType::values},
                                  {"paid", ColumnType::values},
                                  {"text", ColumnType::values}});
  file->write(row_of_values(
      {{"12", true}, {"3", false, true}, {"12", false, true}, {"true", true}, {"a", false, true}}));
  file->write(row_of_values({{"null", true},
                             {"", false, true},
                             {"007", false, true},
                             {"null", true},
                             {"", false, true}}));
  file->write(row_of_values(
      {{"13", true}, {"2.5", false, true}, {"8", false, true}, {"false", true}, {"17", false}}));
  file->commit();
  const auto table = table_in(path);
  EXPECT_EQ(table->schema()->ToString(),
            "id: int64\nprice: double\nzip: string\npaid: bool\ntext: string");
  EXPECT_EQ(table->column(1)->null_count(), 1);
  EXPECT_EQ(table->column(2)->GetScalar(1).ValueOrDie()->ToString(), "007");
  EXPECT_EQ(table->column(4)->null_count(), 0);
}

TEST(TableWriter, WritesRowGroupsWhichOurReaderReads) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "a.parquet";
  const auto file = create(path, {{"text", ColumnType::values}, {"label", ColumnType::text}});
  constexpr std::int64_t count = 200'000;
  std::string rows;
  for (std::int64_t i = 0; i < count; ++i) {
    RowWriter row;
    row.value({"text " + std::to_string(i)});
    row.text(i % 2 == 0 ? "even" : "odd");
    rows += std::move(row).finished();
    if (i % 1000 == 999) {
      file->write(rows);
      rows.clear();
    }
  }
  file->commit();
  const auto reader = ::parquet::ParquetFileReader::OpenFile(path.string());
  EXPECT_GT(reader->metadata()->num_row_groups(), 1);
  const auto split = open(path, {});
  ASSERT_NE(split, nullptr);
  std::int64_t row = 0;
  for (const auto& part : split->parts()) {
    split->read(part, [&](const data::Example& example) {
      ASSERT_EQ(example.text, "text " + std::to_string(row));
      ASSERT_EQ(example.label, row % 2 == 0 ? "even" : "odd");
      ++row;
    });
  }
  EXPECT_EQ(row, count);
}

TEST(TableWriter, MayHaveNoRowsAndLeavesNothingBehind) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "a.parquet";
  {
    const auto file = create(path, {{"id", ColumnType::values}, {"label", ColumnType::text}});
    file->write(row_of_values({{"1", true}, {"x"}}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  create(path, {{"id", ColumnType::values}, {"label", ColumnType::text}})->commit();
  EXPECT_EQ(table_in(path)->num_rows(), 0);
  EXPECT_THROW((void)create(directory / "no" / "a.parquet", {{"label", ColumnType::text}}), Error);
}

}  // namespace
}  // namespace seqtrain::parquet
