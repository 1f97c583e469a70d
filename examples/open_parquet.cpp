// The module of `parquet::open_on_demand`, which is loaded with Arrow when a Parquet file is to be
// read.
#include <filesystem>

#include <seqtrain/parquet/split.hpp>

extern "C" seqtrain::data::ExampleFile* open_parquet(const std::filesystem::path& place,
                                                     const seqtrain::data::ReadOptions& options) {
  return seqtrain::parquet::open(place, options).release();
}
