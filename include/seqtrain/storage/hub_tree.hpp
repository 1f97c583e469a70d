#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/cache.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/storage/file_tree.hpp>
#include <seqtrain/storage/local_tree.hpp>

namespace seqtrain::storage {

/// The files of models on the hub. A model is a folder, `org/name[@revision]`, which can be listed
/// and copied from; the files that are listed are those of one commit. Fetched files stay in the
/// hub's cache.
class HubTree final : public FileTree {
 public:
  explicit HubTree(hub::Client client) : client_{std::move(client)} {}

  [[nodiscard]] bool names_folder(const std::string&) const override { return true; }

  [[nodiscard]] std::string child(const std::string& folder, const std::string&) const override {
    refuse(folder);
  }

  [[nodiscard]] std::optional<PlacedFile> find(const std::string&) const override { return {}; }

  [[nodiscard]] std::vector<PlacedFile> list(const std::string& folder) const override {
    const auto name = hub::Name::parse(folder);
    const auto listing = list_model(name);
    std::vector<PlacedFile> files(listing.files.size());
    run_parallel(4, files.size(), [&](std::size_t i) {
      const auto file = client_.look_at(name, listing.commit, listing.files[i]);
      files[i] = {.place = name.id + "@" + listing.commit + "/" + file.path,
                  .name = file.path,
                  .size = file.size};
    });
    std::ranges::sort(files, {}, &PlacedFile::name);
    return files;
  }

  void fetch(const PlacedFile& file, const Path& path,
             const FileProgress& progress) const override {
    const auto folder = file.place.substr(0, file.place.size() - file.name.size() - 1);
    const auto name = hub::Name::parse(folder);
    const hub::Cache cache{client_.settings().cache};
    cache.fetch(client_, name, name.revision, client_.look_at(name, name.revision, file.name));
    copy_local(cache.snapshot(name, name.revision) / file.name, path, progress);
  }

  void put(const std::string& place, const Path&, const FileProgress&) const override {
    refuse(place);
  }
  void remove(const std::string& place) const override { refuse(place); }
  void remove_all(const std::string& place, const std::function<void()>&) const override {
    refuse(place);
  }

 private:
  [[nodiscard]] hub::Listing list_model(const hub::Name& name) const {
    if (client_.settings().offline) {
      throw InputError{
          "cannot be read in offline mode", {.object = name.text()}, "unset HF_HUB_OFFLINE"};
    }
    const std::string no_file = "; there is no local file or directory of this name either";
    try {
      return client_.list(name);
    } catch (const hub::NotFound& error) {
      throw http::NotFound{error.what() + no_file};
    } catch (const hub::Unavailable& error) {
      throw Error{error.what() + no_file};
    }
  }

  [[noreturn]] static void refuse(const std::string& place) {
    throw InputError{"is on the hub, where this cannot change files", {.object = place}};
  }

  hub::Client client_;
};

}  // namespace seqtrain::storage
