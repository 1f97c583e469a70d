#pragma once

#include <filesystem>
#include <memory>

#include <seqtrain/data/example_file.hpp>

/// Opens a file in a format that the program is built with besides text formats: Parquet, or none.
std::unique_ptr<seqtrain::data::ExampleFile> open_file(const std::filesystem::path& place,
                                                       const seqtrain::data::ReadOptions& options);
