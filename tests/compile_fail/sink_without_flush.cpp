// error: the sink lacks put(key, bytes), put_file(key, file) or flush()
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Sink {
  void put(std::string_view, std::span<const std::byte>) {}
  void put_file(std::string_view, const std::filesystem::path&) {}
#ifndef MISTAKE
  void flush() {}
#endif
};

auto trainer = seqtrain::Trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, Sink{}};
