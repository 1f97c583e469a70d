#pragma once

#include <filesystem>
#include <memory>

#include <seqtrain/data/example_file.hpp>

/// Opens files in the formats beside text that the programs are built with: Parquet, or none.
std::unique_ptr<seqtrain::data::ExampleFile> open_file(const std::filesystem::path& place,
                                                       const seqtrain::data::ReadOptions& options);
