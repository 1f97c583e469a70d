#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <dlfcn.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/is_parquet.hpp>
#include <seqtrain/data/split_files.hpp>

namespace seqtrain::parquet {

#ifdef SEQTRAIN_PARQUET_REQUIREMENT
namespace detail {

using Open = data::ExampleFile*(const std::filesystem::path&, const data::ReadOptions&);

/// Returns the function of the module `libopen_parquet.so`.
inline Open* load_open_parquet() {
  void* const library = ::dlopen("libopen_parquet.so", RTLD_NOW);
  void* const open = library == nullptr ? nullptr : ::dlsym(library, "open_parquet");
  if (open == nullptr) {
    throw InputError{std::string{"Arrow, which reads Parquet, cannot be loaded: "} + ::dlerror(),
                     {},
                     "pip install '" SEQTRAIN_PARQUET_REQUIREMENT "'"};
  }
  return reinterpret_cast<Open*>(open);
}

}  // namespace detail
#endif

/// Opens a Parquet file by the module `libopen_parquet.so`, so that a program which reads no
/// Parquet loads no Arrow. Returns null for other files, and for all files if the macro
/// `SEQTRAIN_PARQUET_REQUIREMENT` is not defined: it is what pip installs Arrow from, and all files
/// of a program must have the same. Throws `InputError` if Arrow cannot be loaded.
[[nodiscard]] inline std::unique_ptr<data::ExampleFile> open_on_demand(
    [[maybe_unused]] const std::filesystem::path& place,
    [[maybe_unused]] const data::ReadOptions& options) {
#ifdef SEQTRAIN_PARQUET_REQUIREMENT
  if (!options.format && data::is_parquet(data::split_files(place))) {
    return std::unique_ptr<data::ExampleFile>{detail::load_open_parquet()(place, options)};
  }
#endif
  return nullptr;
}

}  // namespace seqtrain::parquet
