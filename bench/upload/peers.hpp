#pragma once

#include <filesystem>
#include <string>

/// The competitors. Each sends `file` to the storage service on a port of this machine.
namespace seqtrain::bench {

void upload_with_seqtrain(const std::string& port, const std::filesystem::path& file,
                          bool parallel);

/// Sends one request by plain Boost.Beast and hashes nothing.
void upload_with_beast(const std::string& port, const std::filesystem::path& file);

}  // namespace seqtrain::bench
