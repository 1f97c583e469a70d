#pragma once

// The memory of the fake device. All functions need the device's mutex.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/fake_streams.hpp"

namespace seqtrain::tests {

inline constexpr int unwritten = 0xFF;  // a NaN in each type

// The device's memory. It is mapped twice: where tensors have it, closed to the host, and where
// operators use it. Blocks have sizes of powers of two, so that freed ones serve others.
class Memory {
 public:
  // Returns the place of a block.
  std::size_t take(std::size_t bytes) {
    const std::size_t rounded = rounded_up(bytes);
    auto& free = free_[rounded];
    if (free.empty()) {
      if (rounded > size - end_) throw std::bad_alloc{};
      free.push_back(std::exchange(end_, end_ + rounded));
    }
    const std::size_t place = free.back();
    free.pop_back();
    return place;
  }
  void give_back(std::size_t place, std::size_t bytes) {
    free_[rounded_up(bytes)].push_back(place);
  }

  [[nodiscard]] std::byte* closed(std::size_t place) const { return closed_ + place; }
  [[nodiscard]] std::byte* open(std::size_t place) const { return open_ + place; }

  static std::size_t rounded_up(std::size_t bytes) { return std::bit_ceil(std::max(bytes, page)); }

 private:
  static constexpr std::size_t page = 4096, size = std::size_t{1} << 36;  // of addresses

  std::byte* map(int protection) const {
    void* const memory = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    return static_cast<std::byte*>(memory);
  }
  static int make_file() {
    const int file = ::memfd_create("fake device", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, size) != 0) throw std::bad_alloc{};
    return file;
  }

  int file_ = make_file();
  std::byte* closed_ = map(PROT_NONE);
  std::byte* open_ = map(PROT_READ | PROT_WRITE);
  std::size_t end_ = 0;
  std::map<std::size_t, std::vector<std::size_t>> free_;  // by size
};

inline Memory& device_memory() {
  static auto* const memory = new Memory;  // as long as any tensor
  return *memory;
}

// Memory that graphs share: what one of them frees serves the others, and nobody else. The device
// gets it back when no graph and no tensor has it. If the environment has
// SEQTRAIN_FAKE_GRAPH_BYTES, a pool has no more memory than so many bytes.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (const auto& [place, bytes] : all_) device_memory().give_back(place, bytes);
  }

  std::size_t take(std::size_t bytes) {
    auto& free = free_[Memory::rounded_up(bytes)];
    if (free.empty()) {
      const char* const most = std::getenv("SEQTRAIN_FAKE_GRAPH_BYTES");
      bytes_ += bytes;
      TORCH_CHECK_WITH(OutOfMemoryError, most == nullptr || bytes_ <= std::stoul(most),
                       "the fake device is out of memory");
      free.push_back(device_memory().take(bytes));
      all_.emplace_back(free.back(), bytes);
    }
    const std::size_t place = free.back();
    free.pop_back();
    return place;
  }
  void give_back(std::size_t place, std::size_t bytes) {
    free_[Memory::rounded_up(bytes)].push_back(place);
  }

 private:
  std::size_t bytes_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> all_;  // places and bytes
  std::map<std::size_t, std::vector<std::size_t>> free_;  // by size
};

// The memory of a storage.
struct Block {
  std::size_t place;
  std::size_t bytes;
  streams::History history;
  std::shared_ptr<Pool> pool;  // null if it is the device's own memory
  std::uint64_t number = 0;    // another one for each block
};

// The blocks that are not freed, by their numbers.
inline std::map<std::uint64_t, Block*>& living_blocks() {
  static auto& all = *new std::map<std::uint64_t, Block*>;
  return all;
}

// Makes a block that is full of NaN.
inline Block* make_block(std::size_t bytes, const std::shared_ptr<Pool>& pool,
                         const streams::Id& owner) {
  static std::uint64_t made = 0;
  const std::size_t place = pool ? pool->take(bytes) : device_memory().take(bytes);
  std::memset(device_memory().open(place), unwritten, bytes);
  auto* const block = new Block{place, bytes, {.owner = owner}, pool, ++made};
  living_blocks().emplace(block->number, block);
  return block;
}

// Frees a block. Only graphs of its pool, whose replays are in order, get the memory of a pool.
inline void free_block(Block* freed) {
  const std::unique_ptr<Block> block{freed};
  living_blocks().erase(block->number);
  if (block->pool) return block->pool->give_back(block->place, block->bytes);
  streams::check_free(block->history);
  device_memory().give_back(block->place, block->bytes);
}

inline Block* block_of(const c10::Storage& storage) {
  return static_cast<Block*>(storage.data_ptr().get_context());
}
inline Block& block_of(const at::Tensor& tensor) {
  return *block_of(tensor.storage());
}

}  // namespace seqtrain::tests
