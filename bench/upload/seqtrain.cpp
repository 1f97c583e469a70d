#include <stdlib.h>

#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/upload.hpp>

#include "peers.hpp"

namespace seqtrain::bench {

void upload_with_seqtrain(const std::string& port, const std::filesystem::path& file,
                          bool parallel) {
  ::setenv("STORAGE_EMULATOR_HOST", ("http://127.0.0.1:" + port).c_str(), 1);
  const auto client = gcs::open_client();
  gcs::UploadOptions options;
  options.parallel_bytes = parallel ? 1 : ~std::uint64_t{0};
  gcs::upload_file(client, {"bucket", "name"}, file, options);
}

}  // namespace seqtrain::bench
