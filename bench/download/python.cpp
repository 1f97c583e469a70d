#include <stdexcept>

#include <stdlib.h>
#include <unistd.h>

#include "peers.hpp"

namespace seqtrain::bench {

void download_with_python(const std::string& python, const std::string& port,
                          const std::filesystem::path& file) {
  static const char* const program = R"(
import sys
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
client = storage.Client(project="bench", credentials=AnonymousCredentials())
client.bucket("bucket").blob("name").download_to_filename(sys.argv[1])
)";
  ::setenv("STORAGE_EMULATOR_HOST", ("http://127.0.0.1:" + port).c_str(), 1);
  ::execlp(python.c_str(), python.c_str(), "-c", program, file.c_str(), nullptr);
  throw std::runtime_error{"cannot be run: " + python};
}

}  // namespace seqtrain::bench
