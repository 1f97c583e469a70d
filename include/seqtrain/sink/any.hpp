#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <seqtrain/concepts.hpp>

namespace seqtrain::sink {

/// Holds a sink of any type, for programs that choose it while they run.
class Any {
 public:
  template <Sink S>
  requires(!std::same_as<S, Any>) explicit Any(S sink)
      : sink_{std::make_unique<Holder<S>>(std::move(sink))} {}

  void put(std::string_view key, std::span<const std::byte> bytes) { sink_->put(key, bytes); }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    sink_->put_file(key, file);
  }
  void flush() { sink_->flush(); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual void put(std::string_view key, std::span<const std::byte> bytes) = 0;
    virtual void put_file(std::string_view key, const std::filesystem::path& file) = 0;
    virtual void flush() = 0;
  };

  template <class S>
  struct Holder final : Interface {
    explicit Holder(S held) : sink{std::move(held)} {}
    void put(std::string_view key, std::span<const std::byte> bytes) override {
      sink.put(key, bytes);
    }
    void put_file(std::string_view key, const std::filesystem::path& file) override {
      sink.put_file(key, file);
    }
    void flush() override { sink.flush(); }
    S sink;
  };

  std::unique_ptr<Interface> sink_;
};

}  // namespace seqtrain::sink
