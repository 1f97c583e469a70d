#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/trainer.hpp>

int main() {
  const auto manifest = seqtrain::sink::Manifest::parse(
      R"({"files": [{"name": "a", "size": 1, "crc32c": 2}]})", "manifest.json");
  return manifest.entries().size() == 1 ? 0 : 1;
}
