#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/buckets/download.hpp>
#include <seqtrain/storage/file_tree.hpp>

namespace seqtrain::storage {

/// The files in a cloud's buckets. `Client` is a client as `buckets::Cache` needs it, which can
/// also remove; `upload_file(client, uri, path, options)` of its namespace writes a file.
template <class Client>
class BucketTree final : public FileTree {
 public:
  using Uri = typename Client::Uri;
  using Object = typename Client::Object;

  explicit BucketTree(Client client) : client_{std::move(client)} {}

  [[nodiscard]] bool names_folder(const std::string& place) const override {
    const auto uri = Uri::parse(place);
    return uri.name.empty() || uri.name.ends_with('/');
  }

  [[nodiscard]] std::string child(const std::string& folder,
                                  const std::string& name) const override {
    Uri::parse(folder).child(name).validate();
    return below(folder, name);
  }

  [[nodiscard]] std::optional<PlacedFile> find(const std::string& place) const override {
    if (names_folder(place)) return {};
    const auto object = client_.find(Uri::parse(place));
    if (!object) return {};
    return describe(*object, place, place.substr(place.rfind('/') + 1));
  }

  [[nodiscard]] std::vector<PlacedFile> list(const std::string& folder) const override {
    std::vector<PlacedFile> files;
    const bool found = for_each_below(folder, [&](const Object& object, const std::string& name) {
      if (!buckets::is_placeholder(object, name))
        files.push_back(describe(object, below(folder, name), name));
    });
    if (!found) throw buckets::nothing_at(folder);
    return files;
  }

  void fetch(const PlacedFile& file, const Path& path,
             const FileProgress& progress) const override {
    const auto uri = Uri::parse(file.place);
    const bool found = buckets::read_current([&] { return client_.find(uri); },
                                             [&](const Object& object) {
                                               buckets::download_version(client_, object, path,
                                                                         {.progress = progress});
                                             });
    if (!found) throw buckets::nothing_at(file.place);
  }

  void put(const std::string& place, const Path& file,
           const FileProgress& progress) const override {
    upload_file(client_, Uri::parse(place), file, {.progress = progress});
  }

  bool copy(const PlacedFile& file, const std::string& place) const override {
    if constexpr (requires(const Uri& uri) { client_.copy(uri, uri); }) {
      client_.copy(Uri::parse(file.place), Uri::parse(place));
      return true;
    } else {
      return false;
    }
  }

  void remove(const std::string& place) const override { client_.remove(Uri::parse(place)); }

  void remove_all(const std::string& place,
                  const std::function<void()>& before_each) const override {
    std::vector<Uri> uris;
    if (!names_folder(place) && client_.find(Uri::parse(place))) uris.push_back(Uri::parse(place));
    for_each_below(place,
                   [&](const Object& object, const std::string&) { uris.push_back(object.uri); });
    if (uris.empty()) throw buckets::nothing_at(place);
    for (const auto& uri : uris) {
      before_each();
      client_.remove(uri);
    }
  }

 private:
  static std::string below(const std::string& folder, const std::string& name) {
    return folder + (folder.ends_with('/') ? "" : "/") + name;
  }

  static PlacedFile describe(const Object& object, std::string place, std::string name) {
    return {.place = std::move(place),
            .name = std::move(name),
            .size = object.size,
            .modified = object.modified};
  }

  /// Calls `take` with each object below a folder and its name relative to the folder. Returns
  /// whether there is such a folder: a bucket, or a prefix with objects.
  template <class Take>
  bool for_each_below(const std::string& folder, const Take& take) const {
    const auto prefix = Uri::parse(folder).as_directory();
    bool found = prefix.name.empty();
    client_.list(prefix, [&](const Object& object) {
      found = true;
      take(object, object.uri.name.substr(prefix.name.size()));
    });
    return found;
  }

  Client client_;
};

}  // namespace seqtrain::storage
