#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>

#include "support/simulation/bucket.hpp"
#include "support/simulation/files.hpp"
#include "support/simulation/process.hpp"

namespace seqtrain::tests::sim {

/// The simulated Store: one process's view of a `Bucket`. Copies refer to the same process.
class Store {
 public:
  using Path = std::filesystem::path;

  /// The bucket must outlive the process.
  Store(Bucket& bucket, Process& process) : bucket_{&bucket}, process_{&process} {
    process.on_end([server = bucket_, id = process.id()] { server->end(id); });
  }

  [[nodiscard]] std::string name() const { return "sim://bucket"; }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    put(key, Bucket::Bytes{std::make_shared<std::string>(text_of(bytes))});
  }

  void put_file(std::string_view key, const Path& path) {
    const auto content = Files{*process_}.read(path);
    if (!content) throw Error{"cannot be read", {.object = path.string()}};
    put(key, content->bytes);
  }

  void flush() {
    process_->perform(Operation::store_flush, name(), [&] {
      if (!bucket_->flush(process_->id(), bucket_->next_fate())) fail_to_reach("");
    });
  }

  [[nodiscard]] std::vector<std::string> list(std::string_view directory) const {
    return call(Operation::store_list, directory, [&] { return bucket_->list(directory); });
  }

  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    return call(Operation::store_get, key, [&]() -> std::optional<sink::Stored> {
      const auto* const object = bucket_->get(key);
      if (object == nullptr) return {};
      return sink::Stored{*object->bytes, object->generation};
    });
  }

  bool get_file(std::string_view key, const Path& path) const {
    const auto object = get(key);
    if (object) save(object->bytes, path);
    return object.has_value();
  }

  /// If the answer is lost, tries again and then counts its own bytes in the object as a success.
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    const Bucket::Bytes content = std::make_shared<std::string>(text_of(bytes));
    bool is_lost = false;
    const auto first = call(
        Operation::store_put_if, key,
        [&] { return bucket_->put_if(process_->id(), key, content, generation); }, &is_lost);
    if (!is_lost) return first;
    return call(Operation::store_put_if, key,
                [&] { return put_if_again(key, content, generation); });
  }

  void remove(std::string_view key) {
    call(Operation::store_remove, key, [&] { bucket_->remove(process_->id(), key); });
  }

 private:
  static std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void put(std::string_view key, Bucket::Bytes bytes) {
    call(Operation::store_put, key, [&] { bucket_->put(process_->id(), key, bytes); });
  }

  std::optional<std::int64_t> put_if_again(std::string_view key, const Bucket::Bytes& bytes,
                                           std::int64_t generation) {
    const auto stored = bucket_->put_if(process_->id(), key, bytes, generation);
    if (stored) return stored;
    const auto* const object = bucket_->get(key);
    if (object == nullptr || *object->bytes != *bytes) return {};
    return object->generation;
  }

  /// Makes a call of the process that the server may fail. If `is_lost` is passed, half of the lost
  /// answers set it instead of throwing an `Error`.
  template <class Effect>
  std::invoke_result_t<Effect> call(Operation operation, std::string_view key, const Effect& effect,
                                    bool* is_lost = nullptr) const {
    return process_->perform(operation, key, [&] {
      const auto fate = bucket_->next_fate();
      if (fate == Bucket::Fate::answered) return effect();
      if (fate == Bucket::Fate::answer_lost) {
        effect();
        if (is_lost != nullptr) *is_lost = bucket_->random().chance(0.5);
      }
      if (is_lost == nullptr || !*is_lost) fail_to_reach(key);
      return std::invoke_result_t<Effect>();
    });
  }

  [[noreturn]] void fail_to_reach(std::string_view key) const {
    throw Error{"cannot be reached", {.object = name() + "/" + std::string{key}}};
  }

  void save(std::string_view bytes, const Path& path) const {
    const Files files{*process_};
    Path temporary = path;
    temporary += ".partial";
    auto output = files.create(temporary);
    if (!output) throw Error{"is being written by another process", {.object = path.string()}};
    files.write(*output, std::as_bytes(std::span{bytes}));
    files.sync(*output);
    files.close(*output);
    files.rename(temporary, path);
    files.sync_directory(path.has_parent_path() ? path.parent_path() : Path{"."});
  }

  Bucket* bucket_;
  Process* process_;
};

}  // namespace seqtrain::tests::sim
