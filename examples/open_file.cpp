#include "open_file.hpp"

#ifdef PARQUET_REQUIREMENT
#include <string>

#include <dlfcn.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/parquet/is_parquet.hpp>
#endif

using namespace seqtrain;

#ifdef PARQUET_REQUIREMENT
namespace {

using Open = data::ExampleFile*(const std::filesystem::path&, const data::ReadOptions&);

/// Returns the function of open_parquet.cpp. A run that reads no Parquet does not load Arrow.
Open* load_open_parquet() {
  void* const library = ::dlopen("libopen_parquet.so", RTLD_NOW);
  void* const open = library == nullptr ? nullptr : ::dlsym(library, "open_parquet");
  if (open == nullptr) {
    throw InputError{std::string{"Arrow, which reads Parquet, cannot be loaded: "} + ::dlerror(),
                     {},
                     "pip install '" PARQUET_REQUIREMENT "'"};
  }
  return reinterpret_cast<Open*>(open);
}

}  // namespace
#endif

std::unique_ptr<data::ExampleFile> open_file([[maybe_unused]] const std::filesystem::path& place,
                                             [[maybe_unused]] const data::ReadOptions& options) {
#ifdef PARQUET_REQUIREMENT
  if (!options.format && seqtrain::parquet::is_parquet(data::split_files(place))) {
    return std::unique_ptr<data::ExampleFile>{load_open_parquet()(place, options)};
  }
#endif
  return nullptr;
}
