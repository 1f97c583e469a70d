#pragma once

#include <filesystem>
#include <memory>

#include <seqtrain/data/example_file.hpp>

/// Opens a file in a format other than text that the program is built with: Parquet, or none.
std::unique_ptr<seqtrain::data::ExampleFile> open_file(const std::filesystem::path& place,
                                                       const seqtrain::data::ReadOptions& options);
