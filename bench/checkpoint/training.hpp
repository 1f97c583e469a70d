#pragma once

#include <cstddef>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::bench {

/// A model and an optimizer whose tensors have the sizes of the default model and of Adam's
/// moments.
class Training {
 public:
  Training() : numbers_(3 * parameters) {
    std::mt19937 random{1};
    for (float& number : numbers_) number = static_cast<float>(random()) * 0x1p-32F;
  }

  [[nodiscard]] std::size_t bytes() const { return numbers_.size() * sizeof(float); }

  void copy_to(checkpoint::Snapshot& snapshot) const {
    const std::span all{numbers_};
    assign(snapshot, "model", all.first(parameters));
    assign(snapshot, "optimizer", all.subspan(parameters));
  }

 private:
  static constexpr std::size_t parameters = 22'713'216;  // all-MiniLM-L6-v2
  static constexpr std::size_t tensors = 100;

  static void assign(checkpoint::Snapshot& snapshot, const std::string& owner,
                     std::span<const float> numbers) {
    std::vector<weights::TensorView> views;
    const std::size_t size = numbers.size() / tensors;
    for (std::size_t i = 0; i < tensors; ++i) {
      views.push_back({std::to_string(i),
                       weights::DType::f32,
                       {static_cast<std::int64_t>(size)},
                       std::as_bytes(numbers.subspan(i * size, size))});
    }
    snapshot.tensors[owner].assign(views);
  }

  std::vector<float> numbers_;
};

/// Returns an empty directory in the current directory, which is on the disk.
inline std::filesystem::path empty_directory() {
  const auto path = std::filesystem::path{"bench_checkpoint.tmp"};
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace seqtrain::bench
