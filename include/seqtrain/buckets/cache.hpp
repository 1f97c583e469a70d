#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/sha.h>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/buckets/download.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::buckets {

/// Returns an object's name, or the end of one, as a path that stays below its directory. Throws
/// `InputError` for a name that no file can have.
inline std::filesystem::path local_path(std::string_view name, const Where& where) {
  const auto refuse = [&](const char* problem) {
    throw InputError{problem, where, "no local file can be named like that"};
  };
  if (name.find('\0') != std::string_view::npos) refuse("a zero byte in the name");
  for (const auto part : split(name, '/')) {
    if (part.empty()) refuse("an empty part in the name");
    if (part == "." || part == "..") refuse("a part of the name leads elsewhere");
    if (part.size() > 255) refuse("a part of the name is longer than 255 bytes");
  }
  return std::filesystem::path{name};
}

/// An object with the relative path of its local file.
template <class Object>
struct LocalObject {
  Object object;
  std::filesystem::path path;  ///< relative to the directory of the files
};

/// Tells whether an object stands for a directory, as some tools create: it is empty, and its name
/// ends in a slash. `rest` is the name without that of a directory above it.
template <class Object>
[[nodiscard]] bool is_placeholder(const Object& object, std::string_view rest) {
  return object.size == 0 && (rest.empty() || rest.ends_with('/'));
}

/// Returns the error about a place at which there is nothing.
[[nodiscard]] inline http::NotFound nothing_at(const std::string& place) {
  return http::NotFound{"no such object, and none below it", {.object = place}};
}

/// Returns all objects below `directory` with their paths relative to it, without placeholders.
/// Throws `NotFound` if there is no object, `InputError` if a name cannot be a file or is a file
/// and a directory at once.
template <class Client>
std::vector<LocalObject<typename Client::Object>> list_directory(
    const Client& client, const typename Client::Uri& directory) {
  const auto prefix = directory.as_directory();
  std::vector<LocalObject<typename Client::Object>> found;
  std::set<std::filesystem::path> directories;
  client.list(prefix, [&](const typename Client::Object& object) {
    const auto rest = std::string_view{object.uri.name}.substr(prefix.name.size());
    if (is_placeholder(object, rest)) return;
    found.push_back({object, local_path(rest, {.object = object.uri.text()})});
    for (auto above = found.back().path.parent_path(); !above.empty();
         above = above.parent_path()) {
      directories.insert(above);
    }
  });
  for (const auto& one : found) {
    if (!directories.contains(one.path)) continue;
    throw InputError{"is an object and a directory at once", {.object = one.object.uri.text()}};
  }
  if (found.empty()) throw nothing_at(directory.text());
  return found;
}

/// A directory of files that were fetched from buckets. An entry is one version of a file, or of
/// all files below a prefix, and never changes: a new version becomes a new entry. Entries are
/// verified at each use and appear as a whole. One process fetches an entry while others wait for
/// it.
///
/// `Client` is a cloud's client with its types `Uri` and `Object`: `find(uri)` and `list(uri,
/// take)` return objects, `read(object, offset, size, sink)` reads exactly that version, and
/// `verify(object, checksum, content)` throws `WrongChecksum` if the bytes are not the object's.
template <class Client>
class Cache {
 public:
  using Uri = typename Client::Uri;
  using Object = typename Client::Object;

  /// Creates `directory` if it is missing.
  explicit Cache(std::filesystem::path directory) : directory_{std::move(directory)} {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error)
      throw InputError{"cannot be created: " + error.message(), {.object = directory_.string()}};
  }

  /// Returns the local copy of an object, or of all objects below `uri` if that is not an object.
  /// The files keep their names.
  [[nodiscard]] std::filesystem::path fetch(const Client& client, const Uri& uri,
                                            const DownloadOptions& options = {}) const {
    for (int attempt = 0;; ++attempt) {
      try {
        return fetch_once(client, uri, options);
      } catch (const http::NotFound&) {  // overwritten after it was listed, or missing
        if (attempt == 2 || !is_there(client, uri)) throw;
      } catch (const std::filesystem::filesystem_error& error) {
        throw Error{error.what(), {.object = directory_.string()}};
      }
    }
  }

 private:
  static std::optional<Object> find_file(const Client& client, const Uri& uri) {
    const bool directory = uri.name.empty() || uri.name.ends_with('/');
    return directory ? std::nullopt : client.find(uri);
  }

  static bool is_there(const Client& client, const Uri& uri) {
    return find_file(client, uri) || !client.list(uri.as_directory()).empty();
  }

  [[nodiscard]] std::filesystem::path fetch_once(const Client& client, const Uri& uri,
                                                 const DownloadOptions& options) const {
    const auto file = find_file(client, uri);
    if (!file) return entry(client, list_directory(client, uri), options);
    const auto name = std::string_view{uri.name}.substr(uri.name.rfind('/') + 1);
    const auto path = local_path(name, {.object = uri.text()});
    return entry(client, {{*file, path}}, options) / path;
  }

  /// Returns the directory with these objects in it.
  [[nodiscard]] std::filesystem::path entry(const Client& client,
                                            const std::vector<LocalObject<Object>>& objects,
                                            const DownloadOptions& options) const {
    const auto name = identity(objects);
    const auto path = directory_ / name;
    const FileLock lock{directory_ / (name + ".lock"), client.log()};
    if (is_intact(client, path, objects)) return path;
    std::filesystem::remove_all(path);
    const auto partial = directory_ / (name + ".partial");
    std::filesystem::remove_all(partial);
    for (const auto& [object, relative] : objects) {
      std::filesystem::create_directories((partial / relative).parent_path());
      download_version(client, object, partial / relative, options);
    }
    std::filesystem::rename(partial, path);
    return path;
  }

  /// Returns the name of an entry: the SHA-256 of its objects' names and versions.
  static std::string identity(const std::vector<LocalObject<Object>>& objects) {
    std::string text;
    for (const auto& [object, path] : objects) {
      text += object.uri.text() + '\n' + path.string() + '\n' + object.version() + '\n';
    }
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    return hex(digest);
  }

  static bool is_intact(const Client& client, const std::filesystem::path& entry,
                        const std::vector<LocalObject<Object>>& objects) {
    std::error_code error;
    try {
      for (const auto& [object, path] : objects) {
        const auto size = std::filesystem::file_size(entry / path, error);
        if (error || size != object.size) return false;
        FileSource content{entry / path};
        client.verify(object, checksum_of(content), content);
      }
    } catch (const WrongChecksum&) {
      return false;
    }
    return true;
  }

  std::filesystem::path directory_;
};

/// Returns a local path as it is, and for an address of a cloud's client the verified local copy of
/// the file or directory in `cache_directory`. open() returns the client, which is asked for only
/// then. Throws `InputError` if it cannot be fetched.
template <class Open>
std::filesystem::path localize(const std::string& path_or_uri,
                               const std::filesystem::path& cache_directory, const Open& open) {
  using Client = decltype(open());
  if (!Client::Uri::has(path_or_uri)) return path_or_uri;
  const auto uri = Client::Uri::parse(path_or_uri);
  const auto client = open();
  return Cache<Client>{cache_directory}.fetch(client, uri);
}

}  // namespace seqtrain::buckets
