#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/download.hpp>
#include <seqtrain/gcs/local_path.hpp>
#include <seqtrain/sink/gcs.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/train/checkpoint_mirror.hpp>

namespace seqtrain::cli {

/// Checkpoints below a prefix in a bucket: `<prefix>/checkpoint-<step>/…`, each with its manifest
/// last.
class BucketCheckpoints final : public train::CheckpointStore {
 public:
  BucketCheckpoints(gcs::Client client, sink::Gcs sink)
      : client_{std::move(client)}, sink_{std::move(sink)} {}

  [[nodiscard]] std::string name() const override { return sink_.prefix().text(); }

  std::vector<std::int64_t> steps() override {
    std::vector<std::int64_t> found;
    client_.list(sink_.prefix(), [&](const gcs::ObjectInfo& object) {
      const std::filesystem::path path{object.uri.name};
      if (path.filename() != sink::Manifest::file_name) return;
      if (const auto step = train::checkpoint_step(path.parent_path().filename().string())) {
        found.push_back(*step);
      }
    });
    std::ranges::sort(found);
    return found;
  }

  void fetch(std::int64_t step, const std::filesystem::path& directory) override {
    for (const auto& [object, path] : gcs::list_directory(client_, place(step))) {
      if (path.has_parent_path()) continue;
      gcs::download_generation(client_, object, directory / path);
    }
  }

  void put(const std::filesystem::path& checkpoint, std::int64_t step) override {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{checkpoint}) {
      const auto name = entry.path().filename().string();
      if (name != sink::Manifest::file_name) names.push_back(name);
    }
    sink::publish(sink_, checkpoint, names, train::checkpoint_name(step));
  }

  void remove(std::int64_t step) override {
    const gcs::Uri prefix = place(step);
    client_.remove(prefix.child(sink::Manifest::file_name));
    for (const auto& object : client_.list(prefix)) client_.remove(object.uri);
  }

 private:
  [[nodiscard]] gcs::Uri place(std::int64_t step) const {
    return sink_.prefix().child(train::checkpoint_name(step)).as_directory();
  }

  gcs::Client client_;
  sink::Gcs sink_;
};

}  // namespace seqtrain::cli
