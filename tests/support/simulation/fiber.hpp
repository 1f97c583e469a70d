#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

// GCC defines macros for sanitizers, clang has features.
#if defined(__has_feature)
#define SEQTRAIN_HAS_FEATURE(name) __has_feature(name)
#else
#define SEQTRAIN_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SEQTRAIN_HAS_FEATURE(address_sanitizer)
#define SEQTRAIN_UNDER_ASAN
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__) || SEQTRAIN_HAS_FEATURE(thread_sanitizer)
#define SEQTRAIN_UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace seqtrain::tests::sim {

/// A separate stack on which functions run one after the other. A default-constructed fiber stands
/// for the stack of the thread.
class Fiber {
 public:
  Fiber() {
#if defined(SEQTRAIN_UNDER_TSAN)
    sanitizer_ = __tsan_get_current_fiber();
#endif
  }

  /// Makes a fiber that runs `body` at the first jump to it. `body` must not return.
  explicit Fiber(std::function<void(Fiber&)> body) : body_{std::move(body)} {
    // The lowest page cannot be accessed, so an overflow of the stack is noticed.
    stack_ = ::mmap(nullptr, stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack_ == MAP_FAILED) std::abort();
    ::mprotect(bottom(), usable_bytes, PROT_READ | PROT_WRITE);
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = bottom();
    context_.uc_stack.ss_size = usable_bytes;
    ::makecontext(&context_, enter, 0);
#if defined(SEQTRAIN_UNDER_TSAN)
    sanitizer_ = __tsan_create_fiber(0);
#endif
  }

  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  ~Fiber() {
    if (stack_ == nullptr) return;
#if defined(SEQTRAIN_UNDER_TSAN)
    __tsan_destroy_fiber(sanitizer_);
#endif
    ::munmap(stack_, stack_bytes);
  }

  /// Leaves the running fiber `from` and continues `to` at the place at which it was left.
  /// Exceptions that a fiber handles or unwinds for stay with that fiber.
  static void jump(Fiber& from, Fiber& to) {
    swap_exceptions(from, to);
    before_jump(from, to);
    swap_registers(from, to);
    after_jump(from);
  }

 private:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t usable_bytes = std::size_t{1} << 18;
  static constexpr std::size_t stack_bytes = usable_bytes + page_bytes;

  /// The data that the C++ run time keeps per thread (Itanium ABI, `__cxa_eh_globals`).
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  [[nodiscard]] std::byte* bottom() const {
    return static_cast<std::byte*>(stack_) + page_bytes;
  }

  static void swap_exceptions(Fiber& from, Fiber& to) {
    void* const globals = abi::__cxa_get_globals();
    std::memcpy(&from.exceptions_, globals, sizeof(Exceptions));
    std::memcpy(globals, &to.exceptions_, sizeof(Exceptions));
  }

  static void enter() {
    Fiber& self = *entered_;
    after_jump(self);
    self.body_(self);
    std::abort();
  }

#if defined(__x86_64__) && !defined(SEQTRAIN_UNDER_ASAN) && !defined(SEQTRAIN_UNDER_TSAN)
  /// Swaps registers without asking the system for the signal mask, as `swapcontext` does each
  /// time.
  [[gnu::noinline]] static void swap_registers(Fiber& from, Fiber& to) {
    if (__builtin_setjmp(from.registers_) == 0) leave(to);
  }
  [[gnu::noinline]] static void leave(Fiber& to) {
    if (to.entered()) __builtin_longjmp(to.registers_, 1);
    entered_ = &to;
    to.is_entered_ = true;
    ::setcontext(&to.context_);
  }
  [[nodiscard]] bool entered() const {
    return is_entered_ || stack_ == nullptr;
  }

  void* registers_[5] = {};
  bool is_entered_ = false;
#else
  static void swap_registers(Fiber& from, Fiber& to) {
    entered_ = &to;
    ::swapcontext(&from.context_, &to.context_);
  }
#endif

#if defined(SEQTRAIN_UNDER_ASAN)
  static void before_jump(Fiber& from, Fiber& to) {
    left_ = &from;
    const void* const to_bottom = to.stack_ == nullptr ? to.thread_bottom_ : to.bottom();
    const std::size_t to_bytes = to.stack_ == nullptr ? to.thread_bytes_ : usable_bytes;
    __sanitizer_start_switch_fiber(&from.sanitizer_, to_bottom, to_bytes);
  }
  static void after_jump(Fiber& self) {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(self.sanitizer_, &bottom, &bytes);
    if (left_->stack_ == nullptr) left_->thread_bottom_ = bottom, left_->thread_bytes_ = bytes;
  }
  static inline Fiber* left_ = nullptr;
  const void* thread_bottom_ = nullptr;
  std::size_t thread_bytes_ = 0;
#elif defined(SEQTRAIN_UNDER_TSAN)
  static void before_jump(Fiber&, Fiber& to) {
    __tsan_switch_to_fiber(to.sanitizer_, 0);
  }
  static void after_jump(Fiber&) {}
#else
  static void before_jump(Fiber&, Fiber&) {}
  static void after_jump(Fiber&) {}
#endif

  static inline Fiber* entered_ = nullptr;
  std::function<void(Fiber&)> body_;
  void* stack_ = nullptr;
  [[maybe_unused]] void* sanitizer_ = nullptr;
  ucontext_t context_ = {};
  Exceptions exceptions_;
};

}  // namespace seqtrain::tests::sim
