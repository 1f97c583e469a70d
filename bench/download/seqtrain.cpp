#include <stdlib.h>

#include <seqtrain/gcs/download.hpp>
#include <seqtrain/gcs/open.hpp>

#include "peers.hpp"

namespace seqtrain::bench {

void download_with_seqtrain(const std::string& port, const std::filesystem::path& file,
                            std::size_t threads) {
  ::setenv("STORAGE_EMULATOR_HOST", ("http://127.0.0.1:" + port).c_str(), 1);
  gcs::download(gcs::open_client(), {"bucket", "name"}, file, {.threads = threads});
}

}  // namespace seqtrain::bench
