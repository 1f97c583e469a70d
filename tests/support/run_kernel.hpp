#pragma once

// Runs a kernel of CUDA C++ on the processor. A file that includes this header, and then a kernel's
// source inside a namespace, can call `run_grid`. The blocks run one after another. The threads of
// a block are coroutines of the calling thread: each runs until a barrier or a shuffle, in turns,
// so a barrier that is missing shows as another result when the turns go backwards. Names of CUDA
// are macros, so include nothing after this header.

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <ucontext.h>

namespace seqtrain::tests {

/// The order in which threads of a block take their turns.
enum class Turns { forwards, backwards };

namespace grid {

struct Index {
  unsigned x = 0;
};

inline constexpr unsigned warp = 32;

/// A thread of a block.
struct Thread {
  enum class State { ready, waits, shuffles, ended };

  Index index;
  State state = State::ready;
  std::array<double, 2> shuffled = {};  ///< its values in the last two shuffles
  unsigned shuffles = 0;                ///< so far
  std::unique_ptr<std::byte[]> stack;   ///< null before its first turn
  std::jmp_buf place = {};              ///< where its next turn continues
};

/// The block that runs on this thread of the processor.
struct Block {
  static constexpr std::size_t stack_bytes = 64 << 10;

  Index index, blocks, threads;
  std::span<Thread> all = {};
  std::vector<Thread> pool = {};  ///< of the largest block so far
  Thread* current = nullptr;
  std::jmp_buf scheduler = {};
  std::function<void()> kernel = {};
};

inline thread_local Block block;

/// Gives the turn back. Unlike swapcontext, the jump asks nothing of the system.
[[gnu::noinline]] inline void pause(Thread::State state) {
  block.current->state = state;
  if (_setjmp(block.current->place) == 0) _longjmp(block.scheduler, 1);
}

/// Runs a thread of all blocks that it is in.
inline void run_thread() {
  while (true) {
    block.kernel();
    pause(Thread::State::ended);
  }
}

/// Begins a thread on a stack of its own.
inline void begin(Thread& thread) {
  thread.stack = std::make_unique_for_overwrite<std::byte[]>(Block::stack_bytes);
  ucontext_t context = {};
  ::getcontext(&context);
  context.uc_stack.ss_sp = thread.stack.get();
  context.uc_stack.ss_size = Block::stack_bytes;
  ::makecontext(&context, &run_thread, 0);
  ::setcontext(&context);
}

/// Lets a thread run until it pauses.
[[gnu::noinline]] inline void resume(Thread& thread) {
  block.current = &thread;
  if (_setjmp(block.scheduler) != 0) return;
  if (thread.stack) _longjmp(thread.place, 1);
  begin(thread);
}

inline void make_threads(unsigned threads) {
  block.threads.x = threads;
  if (block.pool.size() < threads) block.pool.resize(threads);
  block.all = std::span{block.pool}.first(threads);
  for (unsigned i = 0; i < threads; ++i) block.all[i].index.x = i;
}

/// Lets each thread that is ready run until a barrier, a shuffle or its end.
inline void take_turns(Turns turns) {
  const std::size_t count = block.all.size();
  for (std::size_t i = 0; i < count; ++i) {
    Thread& thread = block.all[turns == Turns::forwards ? i : count - 1 - i];
    if (thread.state == Thread::State::ready) resume(thread);
  }
}

/// Makes threads ready if all of them are in a state. Returns whether they were.
inline bool release(std::span<Thread> threads, Thread::State state) {
  const auto is_there = [state](const Thread& thread) { return thread.state == state; };
  if (!std::ranges::all_of(threads, is_there)) return false;
  for (Thread& thread : threads) thread.state = Thread::State::ready;
  return true;
}

/// Makes warps ready that shuffle, else the block if it is at a barrier.
inline bool release_all() {
  bool released = false;
  const std::span<Thread> all = block.all;
  for (std::size_t first = 0; first < all.size(); first += warp) {
    const std::size_t count = std::min<std::size_t>(warp, all.size() - first);
    released |= release(all.subspan(first, count), Thread::State::shuffles);
  }
  return released || release(all, Thread::State::waits);
}

inline void run_block(Turns turns) {
  for (Thread& thread : block.all) thread.state = Thread::State::ready;
  do {
    take_turns(turns);
  } while (release_all());
  const auto waits = [](const Thread& thread) { return thread.state != Thread::State::ended; };
  const auto waiting = std::ranges::count_if(block.all, waits);
  if (waiting == 0) return;
  block.pool.clear();  // they would go on in the middle of this block
  throw std::logic_error{"block " + std::to_string(block.index.x) + ": " + std::to_string(waiting) +
                         " of " + std::to_string(block.threads.x) +
                         " threads wait for others that do not come"};
}

/// Returns the value that the thread of the warp's place `lane` gives, or the thread's own one if
/// there is no such thread.
inline double shuffle(double value, unsigned lane) {
  Thread& self = *block.current;
  const std::size_t turn = self.shuffles++ % 2;
  self.shuffled[turn] = value;
  pause(Thread::State::shuffles);
  const unsigned from = self.index.x / warp * warp + lane;
  return lane < warp && from < block.all.size() ? block.all[from].shuffled[turn] : value;
}

}  // namespace grid

/// Calls a kernel for each thread of each block. Throws `std::logic_error` if some threads of a
/// block wait at a barrier, or some of a warp shuffle, and the others do not.
template <class Argument>
void run_grid(void (*kernel)(Argument), unsigned blocks, unsigned threads,
              const std::remove_cv_t<Argument>& argument, Turns turns = Turns::forwards) {
  grid::make_threads(threads);
  grid::block.blocks.x = blocks;
  grid::block.kernel = [&] { kernel(argument); };
  for (unsigned i = 0; i < blocks; ++i) {
    grid::block.index.x = i;
    grid::run_block(turns);
  }
}

}  // namespace seqtrain::tests

// What CUDA adds to C++, as far as the kernels use it.
struct __attribute__((may_alias, aligned(16))) float4 {
  float x, y, z, w;
};
struct __attribute__((may_alias, aligned(8))) ushort4 {
  unsigned short x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                            unsigned short w) {
  return {x, y, z, w};
}
inline void __syncthreads() {
  seqtrain::tests::grid::pause(seqtrain::tests::grid::Thread::State::waits);
}
inline double __shfl_down_sync(unsigned /*all*/, double value, unsigned distance) {
  using namespace seqtrain::tests::grid;
  return shuffle(value, block.current->index.x % warp + distance);
}
inline float __shfl_xor_sync(unsigned /*all*/, float value, unsigned bits) {
  using namespace seqtrain::tests::grid;
  return static_cast<float>(shuffle(value, (block.current->index.x % warp) ^ bits));
}

// Blocks run one after another, so a block's shared memory is static.
#define __global__ static
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define threadIdx (seqtrain::tests::grid::block.current->index)
#define blockIdx (seqtrain::tests::grid::block.index)
#define blockDim (seqtrain::tests::grid::block.threads)
#define gridDim (seqtrain::tests::grid::block.blocks)
