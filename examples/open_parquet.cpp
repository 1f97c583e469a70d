// The module of `parquet::open_on_demand`, which is loaded with Arrow when a Parquet file is to be
// read or written.
#include <filesystem>
#include <vector>

#include <seqtrain/parquet/split.hpp>
#include <seqtrain/parquet/table_writer.hpp>

extern "C" seqtrain::data::ExampleFile* open_parquet(const std::filesystem::path& place,
                                                     const seqtrain::data::ReadOptions& options) {
  return seqtrain::parquet::open(place, options).release();
}

extern "C" seqtrain::data::TableFile* create_parquet(
    const std::filesystem::path& target, const std::vector<seqtrain::data::TableColumn>& columns) {
  return seqtrain::parquet::create(target, columns).release();
}
