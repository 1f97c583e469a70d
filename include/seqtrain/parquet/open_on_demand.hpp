#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/example_file.hpp>
#include <seqtrain/data/is_parquet.hpp>
#include <seqtrain/data/split_files.hpp>
#include <seqtrain/data/table_rows.hpp>

namespace seqtrain::parquet {

#ifdef SEQTRAIN_PARQUET_REQUIREMENT
namespace detail {

using Open = data::ExampleFile*(const std::filesystem::path&, const data::ReadOptions&);
using Create = data::TableFile*(const std::filesystem::path&,
                                const std::vector<data::TableColumn>&);

/// Returns a function of the module `libopen_parquet.so`, which `does` something with Parquet.
template <class Function>
Function* load(const char* name, const std::string& does) {
  void* const library = ::dlopen("libopen_parquet.so", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) {
    throw InputError{"Arrow, which " + does + " Parquet, cannot be loaded: " + ::dlerror(),
                     {},
                     "pip install '" SEQTRAIN_PARQUET_REQUIREMENT "'"};
  }
  return reinterpret_cast<Function*>(found);
}

/// Creates a Parquet file by the module.
[[nodiscard]] inline std::unique_ptr<data::TableFile> create_on_demand(
    const std::filesystem::path& target, const std::vector<data::TableColumn>& columns) {
  return std::unique_ptr<data::TableFile>{
      load<Create>("create_parquet", "writes")(target, columns)};
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
    return std::unique_ptr<data::ExampleFile>{
        detail::load<detail::Open>("open_parquet", "reads")(place, options)};
  }
#endif
  return nullptr;
}

/// Returns the function that creates Parquet files, by the module of `open_on_demand`. Returns null
/// if the program is built without Arrow.
[[nodiscard]] inline data::CreateTable creates_on_demand() {
#ifdef SEQTRAIN_PARQUET_REQUIREMENT
  return detail::create_on_demand;
#else
  return nullptr;
#endif
}

/// Throws `InputError` if Arrow cannot be loaded, so that a program says so before it starts.
inline void require_arrow() {
#ifdef SEQTRAIN_PARQUET_REQUIREMENT
  (void)detail::load<detail::Create>("create_parquet", "writes");
#endif
}

}  // namespace seqtrain::parquet
