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
#include <seqtrain/train/checkpoint_mirror.hpp>

namespace seqtrain::cli {

/// Checkpoints below a prefix in a bucket: `<prefix>/checkpoint-<step>/…`, each with its manifest
/// last.
class BucketCheckpoints final : public train::CheckpointStore {
 public:
  explicit BucketCheckpoints(sink::Gcs sink) : sink_{std::move(sink)} {}

  [[nodiscard]] std::string name() const override { return sink_.prefix().text(); }

  std::vector<std::int64_t> steps() override {
    std::vector<std::int64_t> found;
    client().list(sink_.prefix(), [&](const gcs::ObjectInfo& object) {
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
    for (const auto& [object, path] : gcs::list_directory(client(), place(step))) {
      if (path.has_parent_path()) continue;
      gcs::download_generation(client(), object, directory / path);
    }
  }

  void put(const std::filesystem::path& checkpoint, std::int64_t step) override {
    const std::string prefix = train::checkpoint_name(step) + "/";
    const std::string last{sink::Manifest::file_name};
    const auto manifest = sink::Manifest::load(checkpoint / last);
    for (const auto& entry : manifest.entries()) {
      sink_.put_file(prefix + entry.name, checkpoint / entry.name);
    }
    sink_.flush();
    sink_.put_file(prefix + last, checkpoint / last);
    sink_.flush();
  }

  void remove(std::int64_t step) override {
    const gcs::Uri prefix = place(step);
    client().remove(prefix.child(sink::Manifest::file_name));
    for (const auto& object : client().list(prefix)) client().remove(object.uri);
  }

 private:
  [[nodiscard]] const gcs::Client& client() const { return sink_.client(); }

  [[nodiscard]] gcs::Uri place(std::int64_t step) const {
    return sink_.prefix().child(train::checkpoint_name(step)).as_directory();
  }

  sink::Gcs sink_;
};

}  // namespace seqtrain::cli
