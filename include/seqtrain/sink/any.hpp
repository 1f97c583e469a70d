#pragma once

#include <concepts>
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
#include <seqtrain/sink/directory.hpp>

namespace seqtrain::sink {

/// Holds a store of any type, for programs that choose it at run time.
class Any {
  using Path = std::filesystem::path;
  using Bytes = std::span<const std::byte>;

 public:
  template <class S>
  requires(!std::same_as<S, Any> && Store<S>) explicit Any(S store)
      : store_{std::make_unique<Holder<S>>(std::move(store))} {}

  /// Returns an object that uses `store`, which must outlive it.
  template <Store S>
  [[nodiscard]] static Any refer_to(S& store) {
    return Any{std::make_unique<Holder<S&>>(store)};
  }

  void put(std::string_view key, Bytes bytes) { store_->put(key, bytes); }
  void put_file(std::string_view key, const Path& file) { store_->put_file(key, file); }
  void flush() { store_->flush(); }

  [[nodiscard]] std::string name() const { return store_->name(); }
  [[nodiscard]] std::vector<std::string> list(std::string_view key) { return store_->list(key); }
  [[nodiscard]] std::optional<Stored> get(std::string_view key) { return store_->get(key); }
  bool get_file(std::string_view key, const Path& file) { return store_->get_file(key, file); }
  std::optional<std::int64_t> put_if(std::string_view key, Bytes bytes, std::int64_t generation) {
    return store_->put_if(key, bytes, generation);
  }
  void remove(std::string_view key) { store_->remove(key); }

  /// Cancels the store's calls if it has `cancel`, else does nothing.
  void cancel() { store_->cancel(); }

  /// Throws `InputError` if the store finds that it cannot be written. Does nothing if the store
  /// has no `check_writable`.
  void check_writable() { store_->check_writable(); }

  /// Returns the store if it is a `Directory`, else null.
  [[nodiscard]] const Directory* directory() const { return store_->directory(); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual void put(std::string_view key, Bytes bytes) = 0;
    virtual void put_file(std::string_view key, const Path& file) = 0;
    virtual void flush() = 0;
    virtual std::string name() = 0;
    virtual std::vector<std::string> list(std::string_view key) = 0;
    virtual std::optional<Stored> get(std::string_view key) = 0;
    virtual bool get_file(std::string_view key, const Path& file) = 0;
    virtual std::optional<std::int64_t> put_if(std::string_view key, Bytes bytes,
                                               std::int64_t generation) = 0;
    virtual void remove(std::string_view key) = 0;
    virtual void cancel() = 0;
    virtual void check_writable() = 0;
    [[nodiscard]] virtual const Directory* directory() const = 0;
  };

  template <class S>
  struct Holder final : Interface {
    explicit Holder(S held) : store{static_cast<S&&>(held)} {}
    void put(std::string_view key, Bytes bytes) override { store.put(key, bytes); }
    void put_file(std::string_view key, const Path& file) override { store.put_file(key, file); }
    void flush() override { store.flush(); }
    std::string name() override { return store.name(); }
    std::vector<std::string> list(std::string_view key) override { return store.list(key); }
    std::optional<Stored> get(std::string_view key) override { return store.get(key); }
    bool get_file(std::string_view key, const Path& file) override {
      return store.get_file(key, file);
    }
    std::optional<std::int64_t> put_if(std::string_view key, Bytes bytes,
                                       std::int64_t generation) override {
      return store.put_if(key, bytes, generation);
    }
    void remove(std::string_view key) override { store.remove(key); }
    void cancel() override {
      if constexpr (requires { store.cancel(); }) store.cancel();
    }
    void check_writable() override {
      if constexpr (requires { store.check_writable(); }) store.check_writable();
    }
    [[nodiscard]] const Directory* directory() const override {
      if constexpr (std::same_as<std::remove_reference_t<S>, Directory>) {
        return &store;
      } else if constexpr (std::same_as<S, Any&>) {
        return store.directory();
      } else {
        return nullptr;
      }
    }
    S store;
  };

  explicit Any(std::unique_ptr<Interface> store) : store_{std::move(store)} {}

  std::unique_ptr<Interface> store_;
};

}  // namespace seqtrain::sink
