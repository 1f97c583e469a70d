#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <seqtrain/concepts.hpp>

namespace seqtrain::sink {

/// Passes everything on to several sinks. If one fails, the others still get everything; the first
/// failure is thrown at the end.
template <Sink... Sinks>
class Tee {
 public:
  explicit Tee(Sinks... sinks) : sinks_{std::move(sinks)...} {}

  void put(std::string_view key, std::span<const std::byte> bytes) {
    for_each([&](auto& sink) { sink.put(key, bytes); });
  }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    for_each([&](auto& sink) { sink.put_file(key, file); });
  }
  void flush() {
    for_each([](auto& sink) { sink.flush(); });
  }

  [[nodiscard]] const std::tuple<Sinks...>& sinks() const noexcept { return sinks_; }

 private:
  template <class Action>
  void for_each(const Action& action) {
    std::exception_ptr failure;
    const auto guarded = [&](auto& sink) {
      try {
        action(sink);
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    };
    std::apply([&](auto&... sinks) { (guarded(sinks), ...); }, sinks_);
    if (failure) std::rethrow_exception(failure);
  }

  std::tuple<Sinks...> sinks_;
};

}  // namespace seqtrain::sink
