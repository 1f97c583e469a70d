// A library for `open_file`, which loads it with Arrow when a Parquet file is to be read.
#include <filesystem>

#include <seqtrain/parquet/split.hpp>

extern "C" seqtrain::data::ExampleFile* open_parquet(const std::filesystem::path& place,
                                                     const seqtrain::data::ReadOptions& options) {
  return seqtrain::parquet::open(place, options).release();
}
