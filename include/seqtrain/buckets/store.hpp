#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/buckets/download.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::buckets {

/// A store below a place in a cloud's buckets. An object is verified and durable when `put`
/// returns; an upload that fails leaves the object as it was before.
///
/// `Writer` holds the cloud's client as `client`, which is as `Cache` needs it and also has
/// `remove` and `cancel`, and its options of downloads as `download`. It writes bytes by
/// `put(uri, bytes)`, a file by `put_file(uri, file)`, and conditionally by
/// `put_if(uri, bytes, generation)`. `generation_of(object)` identifies a version.
template <class Writer>
class Store {
 public:
  using Uri = typename decltype(Writer::client)::Uri;
  using Object = typename decltype(Writer::client)::Object;

  Store(Writer writer, const Uri& prefix)
      : writer_{std::move(writer)}, prefix_{prefix.as_directory()} {}

  /// Writes a small object below the prefix and removes it again. Call it before the work whose
  /// results go here: it throws `InputError`, which names what is missing, if the bucket does not
  /// exist, must not be written, or lacks what a store needs.
  void check_writable() const {
    const auto number = static_cast<unsigned long long>(http::random_unit() * 1e15);
    writer_.try_writing(prefix_.child(".seqtrain-check-" + std::to_string(number)));
  }

  [[nodiscard]] std::string name() const { return prefix_.text(); }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    const auto uri = place(key);
    run([&] { writer_.put(uri, bytes); });
  }

  void put_file(std::string_view key, const std::filesystem::path& file) {
    const auto uri = place(key);
    run([&] { writer_.put_file(uri, file); });
  }

  void flush() {}

  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    const auto directory = key.empty() ? prefix_ : place(key).as_directory();
    std::vector<std::string> keys;
    const auto add = [&](const Object& object) {
      const bool placeholder = object.uri.name.ends_with('/');  // a folder that a console created
      if (!placeholder) keys.push_back(object.uri.name.substr(prefix_.name.size()));
    };
    run([&] { writer_.client.list(directory, add); });
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    sink::Stored stored;
    const bool found = fetch(key, [&](const Object& object) {
      stored = {{}, writer_.generation_of(object)};
      writer_.client.read(object, 0, object.size, [&](std::span<const std::byte> bytes) {
        stored.bytes.append(as_text(bytes));
      });
      MemorySource content{std::as_bytes(std::span{stored.bytes})};
      writer_.client.verify(object, Crc32c{}.update(stored.bytes), content);
    });
    return found ? std::optional{std::move(stored)} : std::nullopt;
  }

  bool get_file(std::string_view key, const std::filesystem::path& file) const {
    return fetch(key, [&](const Object& object) {
      download_version(writer_.client, object, file, writer_.download);
    });
  }

  /// Writes the object only if it has that generation; 0 means that there is no object yet. Returns
  /// the new generation, or nothing if it did not write. If the answer is lost, the store looks
  /// whether the object is the one that it sent.
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    const auto uri = place(key);
    std::optional<std::int64_t> written;
    run([&] { written = writer_.put_if(uri, bytes, generation); });
    return written;
  }

  void remove(std::string_view key) {
    const auto uri = place(key);
    run([&] { writer_.client.remove(uri); });
  }

  /// Makes calls under way end soon with an `Error`, and later calls at once. Any thread may call
  /// it.
  void cancel() noexcept { writer_.client.cancel(); }

 private:
  [[nodiscard]] Uri place(std::string_view key) const {
    sink::check_key(key);
    auto uri = prefix_.child(key);
    uri.validate();
    return uri;
  }

  /// Turns the client's `InputError` into `Error`: in the middle of a run a refusal is not the
  /// input's fault.
  template <class Action>
  static void run(const Action& action) {
    try {
      action();
    } catch (const InputError& error) {
      throw Error{error.what()};
    }
  }

  /// Hands the object as it is now to `read`, and starts again if the object is overwritten
  /// meanwhile. Returns false if there is none.
  template <class Read>
  bool fetch(std::string_view key, const Read& read) const {
    const auto uri = place(key);
    bool found = false;
    run([&] { found = read_current([&] { return writer_.client.find(uri); }, read); });
    return found;
  }

  Writer writer_;
  Uri prefix_;
};

}  // namespace seqtrain::buckets
