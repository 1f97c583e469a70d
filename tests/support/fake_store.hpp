#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/train/checkpoint_mirror.hpp>

namespace seqtrain::tests {

/// A store of checkpoints in a directory, which can be out of reach for as many attempts as wanted.
class FakeStore final : public train::CheckpointStore {
 public:
  struct Reach {
    std::atomic<int> failures{0};  ///< of the next attempts to put
    std::atomic<int> puts{0};
  };

  FakeStore(std::filesystem::path path, std::shared_ptr<Reach> reach)
      : directory_{std::move(path)}, reach_{std::move(reach)} {
    std::filesystem::create_directories(directory_.path());
  }

  [[nodiscard]] std::string name() const override { return "the store"; }
  std::vector<std::int64_t> steps() override { return directory_.steps(); }
  void fetch(std::int64_t step, const std::filesystem::path& to) override {
    std::filesystem::copy(directory_.at(step), to);
  }
  void put(const std::filesystem::path& checkpoint, std::int64_t step) override {
    ++reach_->puts;
    if (reach_->failures > 0) {
      --reach_->failures;
      throw Error{"cannot be reached"};
    }
    std::filesystem::remove_all(directory_.at(step));
    std::filesystem::copy(checkpoint, directory_.at(step));
  }
  void remove(std::int64_t step) override { std::filesystem::remove_all(directory_.at(step)); }

 private:
  train::CheckpointDirectory directory_;
  std::shared_ptr<Reach> reach_;
};

}  // namespace seqtrain::tests
