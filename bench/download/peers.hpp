#pragma once

#include <filesystem>
#include <string>

/// The competitors. Each fetches the object of the storage service on a port into `file`.
namespace seqtrain::bench {

void download_with_seqtrain(const std::string& port, const std::filesystem::path& file,
                            std::size_t threads);

/// Sends one request by plain Boost.Beast and hashes nothing.
void download_with_beast(const std::string& port, const std::filesystem::path& file);

}  // namespace seqtrain::bench
