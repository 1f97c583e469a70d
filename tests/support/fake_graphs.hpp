#pragma once

// Graphs of the fake device. In a capture each operator is recorded, and computed too, because its
// result has a size; the end of the capture gives the memory back what it held before, and zeros to
// what the capture allocated. A replay
// calls the operators again and writes their results where the capture had them. As CUDA, it knows
// memory by address only: it demands that memory from outside the capture has not been freed. What
// waits for the device or crosses to the host is refused in a capture, by `refuse_in_capture`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <seqtrain/tensor/device_kernel.hpp>

#include "support/fake_memory.hpp"
#include "support/fake_streams.hpp"

namespace seqtrain::tests::graphs {

// A tensor that is known by its memory.
struct Place {
  std::uint64_t block;  // its number, 0 for a tensor without numbers
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset;
  caffe2::TypeMeta type;
  c10::Device device;
};

inline Place place_of(const at::Tensor& tensor) {
  const bool has_memory = tensor.storage().nbytes() > 0;
  return {has_memory ? block_of(tensor).number : 0,
          tensor.sizes().vec(),
          tensor.strides().vec(),
          tensor.storage_offset(),
          tensor.dtype(),
          tensor.device()};
}

// The memory that a graph uses.
class UsedMemory {
 public:
  // Notes a block that the graph uses. Memory of its own pool may be freed after the capture.
  void note(const Block& block, const std::shared_ptr<Pool>& pool) {
    if (block.pool == pool) {
      inside_.try_emplace(block.number, Block{block.place, block.bytes, {}, nullptr, block.number});
    } else {
      outside_.insert(block.number);
    }
  }

  // Throws unless all memory from outside the pool still exists.
  void check() const {
    for (const std::uint64_t number : outside_) {
      TORCH_CHECK(living_blocks().contains(number),
                  "a graph uses memory that was freed after its capture");
    }
  }

  // Returns a tensor in the memory of a place.
  at::Tensor tensor_at(const Place& place) {
    Block* const block = place.block == 0 ? nullptr : find(place.block);
    auto* const memory = block == nullptr ? nullptr : device_memory().closed(block->place);
    c10::Storage storage{c10::Storage::use_byte_size_t{}, block == nullptr ? 0 : block->bytes,
                         c10::DataPtr{memory, block, [](void*) {}, place.device}, nullptr, false};
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet{c10::DispatchKey::PrivateUse1}, place.type);
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(place.sizes, place.strides, place.offset);
    return tensor;
  }

 private:
  Block* find(std::uint64_t number) {
    const auto alive = living_blocks().find(number);
    return alive != living_blocks().end() ? alive->second : &inside_.at(number);
  }

  std::set<std::uint64_t> outside_;
  std::map<std::uint64_t, Block> inside_;
};

// Does a piece of recorded work again.
using Node = std::function<void(UsedMemory&)>;

struct Graph {
  std::shared_ptr<Pool> pool;
  UsedMemory memory = {};
  std::vector<Node> nodes = {};
};

// A capture of this thread.
struct Capture {
  Graph* graph;
  streams::Id stream;
  std::map<std::size_t, std::vector<std::byte>> before = {};  // what the memory at a place held
  std::set<std::uint64_t> own = {};                           // blocks that the capture made

  // Makes a block for the graph.
  Block* make(std::size_t bytes) {
    Block* const block = make_block(bytes, graph->pool, stream);
    own.insert(block->number);
    return block;
  }

  // Notes a block that the graph uses, before it is written to.
  void note(const Block& block) {
    graph->memory.note(block, graph->pool);
    if (own.contains(block.number) || before.contains(block.place)) return;
    const std::byte* const begin = device_memory().open(block.place);
    before.emplace(block.place, std::vector<std::byte>{begin, begin + block.bytes});
  }
};

inline thread_local Capture* current = nullptr;

// Throws in a capture, which does no work.
inline void refuse_in_capture(const char* what) {
  TORCH_CHECK(current == nullptr, what, " in the capture of a graph");
}

constexpr auto mode = c10::DispatchKey::TESTING_ONLY_GenericMode;

inline void begin(Capture& capture) {
  TORCH_CHECK(current == nullptr, "a thread captures one graph at a time");
  TORCH_CHECK(capture.stream.second != 0, "the default stream cannot be captured");
  current = &capture;
  c10::impl::tls_set_dispatch_key_included(mode, true);
}

inline void end() {
  TORCH_CHECK(current != nullptr, "no capture has begun");
  TORCH_CHECK(streams::current_stream(current->stream.first) == current->stream,
              "a capture ends on another stream than it began on");
  c10::impl::tls_set_dispatch_key_included(mode, false);
  const Capture* const ended = std::exchange(current, nullptr);
  for (const std::uint64_t number : ended->own) {
    const auto alive = living_blocks().find(number);
    if (alive == living_blocks().end()) continue;
    // Zeros: the capture of another graph may take the numbers as indices.
    std::memset(device_memory().open(alive->second->place), 0, alive->second->bytes);
  }
  for (const auto& [place, values] : ended->before) {
    std::memcpy(device_memory().open(place), values.data(), values.size());
  }
}

// ---- Recording of operators

inline void note(const at::Tensor& tensor, std::set<const void*>& blocks) {
  if (!tensor.defined() || tensor.is_cpu() || tensor.storage().nbytes() == 0) return;
  current->note(block_of(tensor));
  blocks.insert(&block_of(tensor));
}

// An argument, whose tensors on the device are known by their places.
struct Argument {
  c10::IValue value;  // if it has no such tensors
  std::vector<Place> places = {};
  bool is_list = false;

  [[nodiscard]] c10::IValue made(UsedMemory& memory) const {
    if (places.empty()) return value;
    if (!is_list) return memory.tensor_at(places[0]);
    std::vector<at::Tensor> tensors;
    for (const Place& place : places) tensors.push_back(memory.tensor_at(place));
    return tensors;
  }
};

inline Argument argument_of(const c10::IValue& value, std::set<const void*>& blocks) {
  if (value.isTensor() && value.toTensor().defined() && !value.toTensor().is_cpu()) {
    note(value.toTensor(), blocks);
    return {{}, {place_of(value.toTensor())}, false};
  }
  TORCH_CHECK(!value.isOptionalTensorList(),
              "graphs take no lists in which tensors may be missing");
  if (!value.isTensorList()) return {value, {}, false};
  Argument list{{}, {}, true};
  for (const at::Tensor& tensor : value.toTensorVector()) {
    note(tensor, blocks);
    list.places.push_back(place_of(tensor));
  }
  return list;
}

// Calls an operator, and records it for the replays unless it only makes a view.
inline void record_operator(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard once{mode};
  const std::size_t inputs = op.schema().arguments().size();
  std::vector<Argument> given;
  std::set<const void*> blocks;
  for (const c10::IValue& value : std::span{*stack}.last(inputs)) {
    given.push_back(argument_of(value, blocks));
  }
  op.callBoxed(stack);
  std::vector<std::pair<std::size_t, Place>> results;
  const std::size_t outputs = op.schema().returns().size();
  for (std::size_t i = 0; i < outputs; ++i) {
    const c10::IValue& value = (*stack)[stack->size() - outputs + i];
    if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().is_cpu()) continue;
    const at::Tensor result = value.toTensor();
    if (result.storage().nbytes() == 0 || blocks.contains(&block_of(result))) continue;
    current->note(block_of(result));
    results.emplace_back(i, place_of(result));
  }
  if (results.empty() && !op.schema().is_mutable()) return;
  current->graph->nodes.emplace_back([op, given, results, outputs](UsedMemory& memory) {
    torch::jit::Stack again;
    for (const Argument& argument : given) again.push_back(argument.made(memory));
    op.callBoxed(&again);
    for (const auto& [i, place] : results) {
      memory.tensor_at(place).copy_(again[again.size() - outputs + i].toTensor());
    }
  });
}

// Records a kernel, whose argument is a struct of so many bytes with addresses in it.
inline void record_kernel(const tensor::KernelCall& call, std::size_t argument_bytes,
                          const std::function<void(const tensor::KernelCall&)>& run) {
  std::set<const void*> blocks;
  const auto places = [&](std::span<const at::Tensor> tensors) {
    std::vector<Place> all;
    for (const at::Tensor& tensor : tensors) {
      note(tensor, blocks);
      all.push_back(place_of(tensor));
    }
    return all;
  };
  const auto* const begin = static_cast<const std::byte*>(call.argument);
  const std::vector<std::byte> argument{begin, begin + argument_bytes};
  current->graph->nodes.emplace_back([=, blocks = call.blocks, threads = call.threads,
                                      reads = places(call.reads),
                                      writes = places(call.writes)](UsedMemory& memory) {
    const auto tensors = [&](const std::vector<Place>& all) {
      std::vector<at::Tensor> made;
      for (const Place& place : all) made.push_back(memory.tensor_at(place));
      return made;
    };
    std::vector<std::byte> copy = argument;
    const auto read = tensors(reads), written = tensors(writes);
    run({blocks, threads, copy.data(), read, written});
  });
}

}  // namespace seqtrain::tests::graphs
