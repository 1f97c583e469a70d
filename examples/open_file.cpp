#include "open_file.hpp"

#ifdef WITH_PARQUET
#include <seqtrain/parquet/split.hpp>
#endif

using namespace seqtrain;

std::unique_ptr<data::ExampleFile> open_file([[maybe_unused]] const std::filesystem::path& place,
                                             [[maybe_unused]] const data::ReadOptions& options) {
#ifdef WITH_PARQUET
  return seqtrain::parquet::open(place, options);  // Arrow has a namespace parquet too
#else
  return nullptr;
#endif
}
