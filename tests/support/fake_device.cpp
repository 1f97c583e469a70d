// A device of LibTorch named `fake`, for tests. Its operators are the processor's, but its memory
// is closed to the host, and copies that need not wait come as late as they may: to the device when
// it needs them, to the host when the host waits. So the device finds a program that reads device
// memory on the host, mixes tensors of two devices, reuses host memory too early, or reads a result
// before it is there. It has several streams, and finds work on two of them that no event orders.
// It counts copies, waits and operators. If the environment has FAKE_DEVICE_IS_DETERMINISTIC,
// operators demand torch's deterministic algorithms; if it has FAKE_DEVICE_HAS_NO_EVENTS, no event
// can be recorded. It runs kernels of our own on the processor, from the source that a GPU gets,
// and captures graphs.
#include "support/fake_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/cuda/layer_norm_kernel.hpp>
#include <seqtrain/cuda/norm_kernel.hpp>
#include <seqtrain/cuda/squares_kernel.hpp>
#include <seqtrain/tensor/device_graph.hpp>
#include <seqtrain/tensor/device_kernel.hpp>

#include "support/fake_graphs.hpp"
#include "support/fake_memory.hpp"
#include "support/fake_streams.hpp"
#include "support/run_kernel.hpp"  // the last one: it defines names of CUDA

namespace seqtrain::tests {
namespace {

constexpr auto type = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceIndex devices = 2;

std::recursive_mutex mutex;
DeviceCounts counts;
std::int64_t operators_so_far = 0;
thread_local c10::DeviceIndex current = 0;
thread_local bool in_operator = false;
thread_local std::string_view operator_name = "a copy";
thread_local std::int64_t waits_here = 0;

// Counts what the program asks for, but not what the device's own operators do.
void count(std::int64_t DeviceCounts::*number, std::int64_t by = 1) {
  const std::lock_guard lock{mutex};
  if (in_operator || graphs::current != nullptr) return;
  counts.*number += by;
  if (number == &DeviceCounts::waits) ++waits_here;
  if (number == &DeviceCounts::operators) ++operators_so_far;
}

// ---- Memory

std::set<const void*> pinned;

// Notes a use of a device's memory by the current stream.
streams::Access use(const at::Tensor& tensor, bool writes) {
  if (tensor.is_cpu() || tensor.numel() == 0) return {};
  if (graphs::current != nullptr) {
    graphs::current->note(block_of(tensor));
    return {};
  }
  return streams::use(block_of(tensor).history, streams::current_stream(tensor.device().index()),
                      writes, operator_name);
}

void remove_block(void* context) {
  const std::lock_guard lock{mutex};
  free_block(static_cast<Block*>(context));
}

struct DeviceAllocator : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device{type, current};
    if (bytes == 0) return {nullptr, device};
    const std::lock_guard lock{mutex};
    const streams::Id stream = streams::current_stream(current);
    const bool captures = graphs::current != nullptr && graphs::current->stream == stream;
    Block* const block =
        captures ? graphs::current->make(bytes) : make_block(bytes, nullptr, stream);
    return {device_memory().closed(block->place), block, &remove_block, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, std::size_t) const override { throw std::bad_alloc{}; }
} device_allocator;

void remove_pinned(void* memory) {
  const std::lock_guard lock{mutex};
  pinned.erase(memory);
  ::operator delete (memory, std::align_val_t{64});
}

struct PinnedAllocator : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    const std::lock_guard lock{mutex};
    void* const memory = ::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{64});
    std::memset(memory, unwritten, bytes);
    pinned.insert(memory);
    return {memory, memory, &remove_pinned, c10::Device{c10::kCPU}};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &remove_pinned; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
} pinned_allocator;

bool is_pinned(const at::Tensor& tensor) {
  return pinned.contains(tensor.storage().data());
}

// ---- Copies that wait

struct Copy {
  at::Tensor from, to;
  streams::Access access;  // of the device's memory
};
std::vector<Copy> arrivals;    // to the device
std::vector<Copy> departures;  // to the host; `from` is a copy of the value

void open_tensors(at::Tensor& from, at::Tensor& to);

// Makes those of the copies that `now` tells, in order.
template <class Now>
void make(std::vector<Copy>& copies, const Now& now) {
  for (std::size_t i = 0; i < copies.size();) {
    if (!now(copies[i])) {
      ++i;
      continue;
    }
    Copy copy = copies[i];
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
    open_tensors(copy.from, copy.to);
  }
}

void arrive(const c10::Storage& storage) {
  make(arrivals, [&](const Copy& copy) {
    return copy.to.storage().data_ptr().get_context() == storage.data_ptr().get_context();
  });
}

bool is_late(const streams::Clock& clock) {
  return std::ranges::any_of(departures,
                             [&](const Copy& copy) { return clock.covers(copy.access); });
}

// The host knows from now on that the work of a clock is done.
void know(const streams::Clock& clock) {
  streams::host_clock().join(clock);
  for (auto* copies : {&arrivals, &departures}) {
    make(*copies, [&](const Copy& copy) { return clock.covers(copy.access); });
  }
}

void wait(const streams::Id& stream) {
  const std::lock_guard lock{mutex};
  graphs::refuse_in_capture("the host waits for the device");
  count(&DeviceCounts::waits);
  know(streams::present(stream));
}

// Copies are the device's own as long as this exists, and the processor's warnings are not shown.
class InOperator {
 public:
  explicit InOperator(std::string_view name) {
    if (!outer_) operator_name = name;
  }
  ~InOperator() {
    in_operator = outer_;
    if (!outer_) operator_name = "a copy";
  }
  InOperator(const InOperator&) = delete;
  InOperator& operator=(const InOperator&) = delete;

 private:
  struct Quiet : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };

  bool outer_ = std::exchange(in_operator, true);
  Quiet quiet_;
  c10::WarningUtils::WarningHandlerGuard guard_{&quiet_};
};

// Returns a tensor of the processor that has a device tensor's memory where it is open.
at::Tensor opened(const at::Tensor& of) {
  if (of.is_cpu()) return of;
  if (of.numel() == 0) return at::empty_strided(of.sizes(), of.strides(), of.scalar_type());
  arrive(of.storage());
  auto* const begin = device_memory().open(block_of(of).place) +
                      of.storage_offset() * static_cast<std::int64_t>(of.itemsize());
  return at::from_blob(begin, of.sizes(), of.strides(), of.scalar_type());
}

void open_tensors(at::Tensor& from, at::Tensor& to) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::Tensor source = opened(from);
  opened(to).copy_(source);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const std::lock_guard lock{mutex};
  const at::AutoDispatchBelowADInplaceOrView below;
  if (from.is_cpu()) count(&DeviceCounts::copies_to);
  if (to.is_cpu()) {
    count(&DeviceCounts::copies_from);
    count(&DeviceCounts::bytes_from, static_cast<std::int64_t>(to.nbytes()));
  }
  const bool crosses = from.is_cpu() || to.is_cpu();
  if (crosses && !in_operator) graphs::refuse_in_capture("numbers are copied from or to the host");
  if (!crosses) count(&DeviceCounts::operators);
  const bool late = crosses && !in_operator && non_blocking &&
                    is_pinned(from.is_cpu() ? from : to) && from.sizes() == to.sizes() &&
                    from.scalar_type() == to.scalar_type() && to.is_contiguous();
  if (late && from.is_cpu()) {
    const auto access = use(to, true);
    arrivals.push_back({from, to, access});
  } else if (late) {
    const auto access = use(from, false);
    departures.push_back({opened(from).clone(), to, access});
    std::memset(to.mutable_data_ptr(), unwritten, to.nbytes());
  } else {
    use(from, false);
    use(to, true);
    const at::Tensor source = opened(from);
    opened(to).copy_(source.expand(to.sizes()));
    const c10::Device device = from.is_cpu() ? to.device() : from.device();
    if (crosses && !in_operator) wait(streams::current_stream(device.index()));
  }
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes()) {
    const at::Tensor larger = at::empty(from.sizes(), to.options());
    to.unsafeGetTensorImpl()->set_storage_keep_dtype(larger.storage());
    to.unsafeGetTensorImpl()->set_sizes_contiguous(from.sizes());
  }
  return copy_from(from, to, false);
}

at::Scalar local_scalar_dense(const at::Tensor& tensor) {
  const std::lock_guard lock{mutex};
  graphs::refuse_in_capture("the host reads a number");
  use(tensor, false);
  wait(streams::current_stream(tensor.device().index()));
  return opened(tensor).item();
}

// ---- Random numbers

struct Generator : c10::GeneratorImpl {
  explicit Generator(c10::DeviceIndex index)
      : GeneratorImpl{{type, index}, c10::DispatchKeySet{c10::DispatchKey::PrivateUse1}},
        host{at::detail::createCPUGenerator()} {}
  void set_current_seed(std::uint64_t seed) override {
    graphs::refuse_in_capture("a generator gets a seed");
    host.set_current_seed(seed);
  }
  void set_offset(std::uint64_t offset) override { host.set_offset(offset); }
  std::uint64_t get_offset() const override { return host.get_offset(); }
  std::uint64_t current_seed() const override { return host.current_seed(); }
  std::uint64_t seed() override { return host.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    host.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host.unsafeGetGeneratorImpl()->get_state();
  }
  GeneratorImpl* clone_impl() const override { TORCH_CHECK(false, "not needed"); }

  at::Generator host;
};

// ---- Operators

// Tensors must be on one device; a number may be a tensor of the processor.
void check_device(const at::Tensor& tensor, std::optional<c10::Device>& device,
                  const c10::OperatorHandle& op) {
  if (!tensor.defined() || (tensor.is_cpu() && tensor.dim() == 0)) return;
  TORCH_CHECK(!device || *device == tensor.device(), op.schema().name(),
              " got tensors of two devices: ", *device, " and ", tensor.device());
  device = tensor.device();
}

bool waits(std::string_view name) {
  static const std::set<std::string_view> names{"aten::equal", "aten::nonzero", "aten::unique_dim",
                                                "aten::_unique2", "aten::masked_select"};
  return names.contains(name);
}

std::span<c10::IValue> arguments(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  return std::span{*stack}.last(op.schema().arguments().size());
}

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::lock_guard lock{mutex};
  std::optional<c10::Device> device;
  for (c10::IValue& value : arguments(op, stack)) {
    if (value.isTensor()) check_device(value.toTensor(), device, op);
    if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) check_device(tensor, device, op);
    }
    if (value.isGenerator()) value = value.toGenerator().get<Generator>()->host;
  }
  count(&DeviceCounts::operators);
  static const bool deterministic = std::getenv("FAKE_DEVICE_IS_DETERMINISTIC") != nullptr;
  TORCH_CHECK(!deterministic || at::globalContext().deterministicAlgorithms(), op.schema().name(),
              " may give other bits each time");
  if (waits(op.schema().name())) wait(streams::current_stream(device.value().index()));
  if (op.schema().name() == "aten::addmm" || op.schema().name() == "aten::mm") {
    const std::size_t factor = op.schema().name() == "aten::mm" ? 0 : 1;
    counts.largest_product =
        std::max(counts.largest_product, arguments(op, stack)[factor].toTensor().size(0));
  }
  const InOperator inside{op.schema().name()};
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

using Sizes = at::IntArrayRef;

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, Sizes stride, Sizes padding,
                       Sizes dilation, bool transposed, Sizes output_padding, std::int64_t groups) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{"aten::convolution"};
  const auto host_bias = bias && bias->defined() ? std::optional{bias->cpu()} : std::nullopt;
  return at::convolution(x.cpu(), weight.cpu(), host_bias, stride, padding, dilation, transposed,
                         output_padding, groups)
      .to(x.device());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight, Sizes stride,
    Sizes padding, Sizes dilation, bool transposed, Sizes output_padding, std::int64_t groups,
    std::array<bool, 3> mask) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{"aten::convolution_backward"};
  const std::array<std::int64_t, 1> bias{gradient.size(1)};
  auto [of_x, of_weight, of_bias] =
      at::convolution_backward(gradient.cpu(), x.cpu(), weight.cpu(), Sizes{bias}, stride, padding,
                               dilation, transposed, output_padding, groups, mask);
  const auto sent = [&](const at::Tensor& t) { return t.defined() ? t.to(x.device()) : t; };
  return {sent(of_x), sent(of_weight), sent(of_bias)};
}

// ---- Operators that only GPUs have, and those that draw from the device's own generator

at::Generator default_generator() {
  return at::globalContext().defaultGenerator(c10::Device{type, 0}).get<Generator>()->host;
}

at::Tensor mask_of(at::IntArrayRef sizes, double p) {
  return at::empty(sizes).bernoulli_(1 - p, default_generator());
}

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& x, double p,
                                                  std::optional<bool>) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{"aten::native_dropout"};
  const at::Tensor mask = mask_of(x.sizes(), p);
  const at::Tensor y = x.cpu().to(at::kFloat).mul(mask).div(1 - p).to(x.scalar_type());
  return {y.to(x.device()), mask.to(at::kBool).to(x.device())};
}

at::Tensor& addmm_to(const at::Tensor& x, const at::Tensor& a, const at::Tensor& b,
                     at::ScalarType wide, const at::Scalar& beta, const at::Scalar& alpha,
                     at::Tensor& out) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{"aten::addmm.dtype_out"};
  const at::Tensor product = at::mm(a.cpu().to(wide), b.cpu().to(wide)).mul(alpha);
  return out.copy_(x.cpu().to(wide).mul(beta).add(product));
}

// The step of an LSTM. The workspace has the gates in the order of the weights: i, f, g, o.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& of_input, const at::Tensor& of_hidden, const at::Tensor& cx,
    const std::optional<at::Tensor>& input_bias, const std::optional<at::Tensor>& hidden_bias) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{"aten::_thnn_fused_lstm_cell"};
  at::Tensor sums = of_input.cpu() + of_hidden.cpu();
  for (const auto* bias : {&input_bias, &hidden_bias}) {
    if (*bias && (*bias)->defined()) sums = sums + (*bias)->cpu();
  }
  const auto parts = sums.chunk(4, 1);
  const at::Tensor i = parts[0].sigmoid(), f = parts[1].sigmoid(), g = parts[2].tanh();
  const at::Tensor o = parts[3].sigmoid(), cy = f * cx.cpu() + i * g;
  const at::Device device = of_input.device();
  return {(o * cy.tanh()).to(device), cy.to(device), at::cat({i, f, g, o}, 1).to(device)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const std::optional<at::Tensor>& d_hy, const std::optional<at::Tensor>& d_cy,
    const at::Tensor& cx, const at::Tensor& cy, const at::Tensor& workspace, bool has_bias) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{"aten::_thnn_fused_lstm_cell_backward_impl"};
  const auto parts = workspace.cpu().chunk(4, 1);
  const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  const auto given = [&](const std::optional<at::Tensor>& d) {
    return d && d->defined() ? d->cpu() : at::zeros_like(i);
  };
  const at::Tensor d_h = given(d_hy), tanh = cy.cpu().tanh();
  const at::Tensor d_c = d_h * o * (1 - tanh * tanh) + given(d_cy);
  const at::Tensor d_gates = at::cat({d_c * g * i * (1 - i), d_c * cx.cpu() * f * (1 - f),
                                      d_c * i * (1 - g * g), d_h * tanh * o * (1 - o)},
                                     1);
  const at::Device device = workspace.device();
  return {d_gates.to(device), (d_c * f).to(device),
          has_bias ? d_gates.sum(0).to(device) : at::Tensor{}};
}

// Returns rows [heads, length, size] one after the other, [tokens, heads, size], as `like` is.
at::Tensor joined(std::vector<at::Tensor> rows, const at::Tensor& like) {
  for (at::Tensor& row : rows) row = row.transpose(0, 1);
  return at::cat(rows).to(like.scalar_type()).to(like.device());
}

// Attention of rows whose tokens follow one another, by plain products in fp32. The state of the
// random numbers is the mask of dropout itself, [heads, tokens, longest].
struct PackedAttention {
  at::Tensor q, k, v, starts;  // q, k and v are [tokens, heads, size]
  double p;
  std::optional<std::int64_t> reach = {};  // distance of the farthest key
  at::Tensor mask = {};
  at::Tensor bias = {};  // [rows, heads, length, length], fp32
  std::optional<double> given_scale = {};

  void draw_mask(std::int64_t longest) {
    mask = p > 0 ? mask_of({q.size(1), q.size(0), longest}, p) : at::empty(0);
  }

  // Calls use(q, k, v, shares, factors, part) for each row: [heads, length, size] of q, k and v,
  // the shares of attention, the factors of dropout, and a function that takes the row's part of
  // another tensor.
  template <class Use>
  void each_row(const Use& use) const {
    const at::Tensor host = starts.cpu();
    const auto* const begin = host.const_data_ptr<std::int32_t>();
    for (std::int64_t row = 0; row + 1 < host.size(0); ++row) {
      const std::int64_t start = begin[row], length = begin[row + 1] - start;
      const auto part = [&](const at::Tensor& x) {
        return x.cpu().to(at::kFloat).narrow(0, start, length).transpose(0, 1);
      };
      at::Tensor scores = at::matmul(part(q), part(k).mT()).mul(scale());
      if (bias.defined()) scores = scores + bias[row];
      const at::Tensor place = at::arange(length);
      const at::Tensor distance = (place.unsqueeze(0) - place.unsqueeze(1)).abs();
      if (reach) scores = scores.masked_fill(distance > *reach, -INFINITY);
      const at::Tensor factors = p > 0
                                     ? mask.narrow(1, start, length).narrow(2, 0, length) / (1 - p)
                                     : at::ones_like(scores);
      use(part(q), part(k), part(v), at::softmax(scores, -1), factors, part);
    }
  }
  [[nodiscard]] double scale() const {
    return given_scale.value_or(1 / std::sqrt(static_cast<double>(q.size(2))));
  }

  [[nodiscard]] at::Tensor forward() const {
    std::vector<at::Tensor> rows;
    each_row([&](const auto&, const auto&, const at::Tensor& value, const at::Tensor& shares,
                 const at::Tensor& factors,
                 const auto&) { rows.push_back(at::matmul(shares * factors, value)); });
    return joined(rows, q);
  }

  // Returns the gradients of q, k, v and the bias.
  [[nodiscard]] std::array<at::Tensor, 4> backward(const at::Tensor& gradient) const {
    std::array<std::vector<at::Tensor>, 4> rows;
    each_row([&](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const at::Tensor& shares, const at::Tensor& factors, const auto& part) {
      const at::Tensor d_out = part(gradient);
      const at::Tensor d_shares = at::matmul(d_out, value.mT()) * factors;
      const at::Tensor d_sums = shares * (d_shares - (d_shares * shares).sum(-1, true));
      const at::Tensor d_scores = d_sums * scale();
      rows[0].push_back(at::matmul(d_scores, key));
      rows[1].push_back(at::matmul(d_scores.mT(), query));
      rows[2].push_back(at::matmul((shares * factors).mT(), d_out));
      if (bias.defined()) rows[3].push_back(d_sums.to(q.scalar_type()));
    });
    return {joined(rows[0], q), joined(rows[1], q), joined(rows[2], q),
            bias.defined() ? at::stack(rows[3]).to(q.device()) : at::Tensor{}};
  }
};

// Attention of rows [rows, length, heads, size] of equal length, or of one that has several rows in
// it. The arguments are in the operator's order, the first of which is q.
PackedAttention packed_rows(std::span<const c10::IValue> q_first, const c10::IValue& starts,
                            double p, const c10::IValue& scale) {
  const at::Tensor q = q_first[0].toTensor();
  PackedAttention packed{q.flatten(0, 1),
                         q_first[1].toTensor().flatten(0, 1),
                         q_first[2].toTensor().flatten(0, 1),
                         {},
                         p};
  packed.starts = starts.isTensor()
                      ? starts.toTensor()
                      : at::arange(q.size(0) + 1, at::kInt).mul(q.size(1)).to(at::kInt);
  packed.given_scale = scale.toOptional<double>();
  if (!q_first[3].isTensor() || !q_first[3].toTensor().defined()) return packed;
  const at::Tensor bias = q_first[3].toTensor();
  const std::array<std::int64_t, 4> sizes{q.size(0), q.size(2), q.size(1), q.size(1)};
  TORCH_CHECK(!starts.isTensor() && bias.sizes() == at::IntArrayRef{sizes} &&
                  bias.scalar_type() == q.scalar_type() && bias.stride(3) == 1 &&
                  bias.stride(2) % 8 == 0 && bias.stride(1) % 8 == 0,
              "the bias has another type or form than CUDA's operator demands");
  packed.bias = bias.cpu().to(at::kFloat);
  return packed;
}

void attention(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{op.schema().name()};
  const auto all = arguments(op, stack);
  const auto sizes = all[0].toTensor().sizes().vec();
  PackedAttention packed = packed_rows(all, all[4], all[8].toDouble(), all[11]);
  packed.draw_mask(all[4].isTensor() ? all[6].toInt() : sizes[1]);
  torch::jit::drop(*stack, all.size());
  const at::Device device = packed.q.device();
  const at::Tensor nothing = at::empty(0).to(device);
  torch::jit::push(*stack, packed.forward().view(sizes), nothing, packed.mask.to(device), nothing,
                   0, 0);
}

void attention_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{op.schema().name()};
  const auto all = arguments(op, stack);
  const auto sizes = all[1].toTensor().sizes().vec();
  PackedAttention packed = packed_rows(all.subspan(1), all[6], all[11].toDouble(), all[16]);
  packed.mask = all[12].toTensor().cpu();
  TORCH_CHECK(all[19].toBool(), "the gradients have to share their memory");
  TORCH_CHECK(all[17].toInt() == 1, "more splits of the keys add in an order that varies");
  const auto gradients = packed.backward(all[0].toTensor().flatten(0, 1));
  const at::Tensor result = at::stack({gradients[0], gradients[1], gradients[2]}, 1)
                                .view({sizes[0], sizes[1], 3, sizes[2], sizes[3]});
  const bool has_bias = all[15].toBool();
  torch::jit::drop(*stack, all.size());
  for (std::int64_t i = 0; i < 3; ++i) stack->emplace_back(result.select(2, i));
  stack->emplace_back(has_bias ? gradients[3] : at::Tensor{});
}

// FlashAttention, which GPUs have for two types. Its window is as wide on both sides here.
void check_flash(const at::Tensor& q, const c10::IValue& left, const c10::IValue& right) {
  TORCH_CHECK(q.scalar_type() == at::kHalf || q.scalar_type() == at::kBFloat16,
              "FlashAttention only supports fp16 and bf16");
  TORCH_CHECK(q.size(-1) <= 256, "FlashAttention only supports heads of at most 256 columns");
  TORCH_CHECK(q.dim() == 3 && left.toInt() == right.toInt(), "the arguments are of another form");
}

void flash_attention(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{op.schema().name()};
  const auto all = arguments(op, stack);
  check_flash(all[0].toTensor(), all[11], all[12]);
  PackedAttention packed{all[0].toTensor(), all[1].toTensor(), all[2].toTensor(),
                         all[3].toTensor(), all[7].toDouble(), all[11].toInt()};
  packed.draw_mask(all[5].toInt());
  torch::jit::drop(*stack, all.size());
  const at::Tensor nothing = at::empty(0).to(packed.q.device());
  torch::jit::push(*stack, packed.forward(), nothing, packed.mask.to(packed.q.device()), nothing,
                   nothing);
}

void flash_attention_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::lock_guard lock{mutex};
  count(&DeviceCounts::operators);
  const InOperator inside{op.schema().name()};
  const auto all = arguments(op, stack);
  check_flash(all[1].toTensor(), all[15], all[16]);
  const PackedAttention packed{all[1].toTensor(),       all[2].toTensor(),  all[3].toTensor(),
                               all[6].toTensor(),       all[10].toDouble(), all[15].toInt(),
                               all[12].toTensor().cpu()};
  const auto gradients = packed.backward(all[0].toTensor());
  torch::jit::drop(*stack, all.size());
  for (std::size_t i = 0; i < 3; ++i) stack->emplace_back(gradients[i]);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard{device};
  return at::detail::empty_strided_generic(sizes, strides, &device_allocator,
                                           c10::DispatchKeySet{c10::DispatchKey::PrivateUse1},
                                           dtype.value_or(at::kFloat));
}

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard{device};
  return at::detail::empty_generic(sizes, &device_allocator,
                                   c10::DispatchKeySet{c10::DispatchKey::PrivateUse1},
                                   dtype.value_or(at::kFloat), format);
}

// ---- Autocast, with the lists that LibTorch has for all devices

void cast(c10::IValue& value, at::ScalarType to) {
  using at::autocast::cached_cast;
  if (value.isTensor()) value = cached_cast(to, value.toTensor(), type);
  if (value.isTensorList()) value = cached_cast(to, at::TensorList{value.toTensorVector()}, type);
}

void call_with(const c10::OperatorHandle& op, torch::jit::Stack* stack, at::ScalarType to) {
  const c10::impl::ExcludeDispatchKeyGuard once{c10::DispatchKey::AutocastPrivateUse1};
  for (c10::IValue& value : arguments(op, stack)) cast(value, to);
  op.callBoxed(stack);
}

void call_in_lower(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  call_with(op, stack, at::autocast::get_autocast_dtype(type));
}

// `promote` also goes to fp32, the widest type there is.
void call_in_fp32(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  call_with(op, stack, at::kFloat);
}

// ---- What LibTorch asks of a device

// The device seems to be 150 operators late, unless a program only asks.
struct Event {
  streams::Clock clock;  // of the stream
  std::int64_t operators = 0;
  int queries = 0;
};

struct Guard : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return tests::type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {tests::type, std::exchange(current, device.index())};
  }
  c10::Device getDevice() const override { return {tests::type, current}; }
  void setDevice(c10::Device device) const override { current = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device.index(); }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream{c10::Stream::UNSAFE, device, streams::current_stream(device.index()).second};
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream{c10::Stream::DEFAULT, device};
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    static std::atomic<c10::StreamId> made = 0;
    constexpr c10::StreamId pool = 32;  // CUDA's, too, gives a stream of these again
    return c10::Stream{c10::Stream::UNSAFE, device, ++made % pool + 1};
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getNewStream(device, 0);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    auto& now = streams::current_streams().at(static_cast<std::size_t>(stream.device_index()));
    return c10::Stream{c10::Stream::UNSAFE, stream.device(), std::exchange(now, stream.id())};
  }
  c10::DeviceIndex deviceCount() const noexcept override { return devices; }

  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    static const bool has_none = std::getenv("FAKE_DEVICE_HAS_NO_EVENTS") != nullptr;
    TORCH_CHECK(!has_none, "this fake device has no events");
    const std::lock_guard lock{mutex};
    if (*event == nullptr) *event = new Event;
    *static_cast<Event*>(*event) = {streams::present(streams::id_of(stream)), operators_so_far, 0};
  }
  void block(void* event, const c10::Stream& stream) const override {
    const std::lock_guard lock{mutex};
    if (event == nullptr) return;
    streams::clocks()[streams::id_of(stream)].join(static_cast<Event*>(event)->clock);
  }
  bool queryEvent(void* data) const override {
    const std::lock_guard lock{mutex};
    auto* const event = static_cast<Event*>(data);
    if (event == nullptr) return true;
    const bool late = is_late(event->clock) && operators_so_far < event->operators + 150 &&
                      ++event->queries < 100;
    if (!late) know(event->clock);
    return !late;
  }
  void synchronizeEvent(void* event) const override {
    const std::lock_guard lock{mutex};
    count(&DeviceCounts::waits);
    if (event != nullptr) know(static_cast<Event*>(event)->clock);
  }
  bool queryStream(const c10::Stream& stream) const override {
    const std::lock_guard lock{mutex};
    const streams::Clock& clock = streams::present(streams::id_of(stream));
    if (is_late(clock)) return false;
    know(clock);
    return true;
  }
  void synchronizeStream(const c10::Stream& stream) const override { wait(streams::id_of(stream)); }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    const std::lock_guard lock{mutex};
    count(&DeviceCounts::waits);
    for (const auto& [stream, clock] : streams::clocks()) {
      if (stream.first == device) know(streams::Clock{clock});
    }
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    const std::lock_guard lock{mutex};
    auto* const block = static_cast<Block*>(data.get_context());
    if (block != nullptr) block->history.recorded.insert(stream.id());
  }
};

struct Hooks : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return devices; }
  c10::DeviceIndex getCurrentDevice() const override { return current; }
  void setCurrentDevice(c10::DeviceIndex index) const override { current = index; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return std::exchange(current, index);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchangeDevice(index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return at::make_generator<Generator>(index < 0 ? current : index);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const at::Generator generator = getNewGenerator(0);
    return generator;
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  bool isPinnedPtr(const void* data) const override {
    const std::lock_guard lock{mutex};
    return pinned.contains(data);
  }
  c10::Device getDeviceFromPtr(void*) const override { return {type, current}; }
};

[[maybe_unused]] const bool registered = [] {
  c10::SetAllocator(type, &device_allocator);
  c10::register_privateuse1_backend("fake");
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", TORCH_FN(at::native::view));
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &local_scalar_dense);
  library.impl("native_dropout", &native_dropout);
  library.impl("_thnn_fused_lstm_cell", &lstm_cell);
  library.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  library.impl("addmm.dtype_out", &addmm_to);
  library.impl("_efficient_attention_forward",
               torch::CppFunction::makeFromBoxedFunction<&attention>());
  library.impl("_efficient_attention_backward",
               torch::CppFunction::makeFromBoxedFunction<&attention_backward>());
  library.impl("_flash_attention_forward",
               torch::CppFunction::makeFromBoxedFunction<&flash_attention>());
  library.impl("_flash_attention_backward",
               torch::CppFunction::makeFromBoxedFunction<&flash_attention_backward>());
  library.impl("convolution_overrideable", &convolution);
  library.impl("convolution_backward_overrideable", &convolution_backward);
}

void record_in_capture(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::lock_guard lock{mutex};
  graphs::record_operator(op, stack);
}
TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&record_in_capture>());
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

#define FAKE_NAME(name, ...) #name __VA_OPT__("." #__VA_ARGS__)
#define FAKE_LOWER(...) \
  library.impl(FAKE_NAME(__VA_ARGS__), torch::CppFunction::makeFromBoxedFunction<&call_in_lower>());
#define FAKE_FP32(...) \
  library.impl(FAKE_NAME(__VA_ARGS__), torch::CppFunction::makeFromBoxedFunction<&call_in_fp32>());
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, library) {
  AT_FORALL_LOWER_PRECISION_FP(FAKE_LOWER)
  AT_FORALL_FP32(FAKE_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(FAKE_FP32)
  AT_FORALL_PROMOTE(FAKE_FP32)
}

}  // namespace

// ---- Kernels of our own, which the processor runs from their source

namespace {

#include "kernels/adam_kernel.cu"
#include "kernels/layer_norm_kernel.cu"
#include "kernels/norm_kernel.cu"
#include "kernels/squares_kernel.cu"

// As long as this exists, a kernel can use the memory of the tensors that it names where tensors
// have it, and can write only what it names as such.
class OpenToKernel {
 public:
  explicit OpenToKernel(const tensor::KernelCall& call) {
    add(call.reads, false);
    add(call.writes, true);
    for (const auto& [block, writes] : blocks_)
      protect(*block, writes ? PROT_READ | PROT_WRITE : PROT_READ);
  }
  ~OpenToKernel() {
    for (const auto& [block, writes] : blocks_) protect(*block, PROT_NONE);
  }
  OpenToKernel(const OpenToKernel&) = delete;
  OpenToKernel& operator=(const OpenToKernel&) = delete;

 private:
  void add(std::span<const at::Tensor> tensors, bool writes) {
    for (const at::Tensor& tensor : tensors) {
      TORCH_CHECK(!tensor.is_cpu(), "a kernel got a tensor of the processor");
      if (tensor.numel() == 0) continue;
      arrive(tensor.storage());
      use(tensor, writes);
      blocks_[&block_of(tensor)] |= writes;
    }
  }
  static void protect(const Block& block, int protection) {
    const int result = ::mprotect(device_memory().closed(block.place), block.bytes, protection);
    TORCH_CHECK(result == 0, "the device's memory cannot be opened");
  }

  std::map<const Block*, bool> blocks_;
};

template <class Argument>
class HostKernel : public tensor::DeviceKernel {
 public:
  explicit HostKernel(void (*kernel)(Argument)) : kernel_{kernel} {}

  void call(const tensor::KernelCall& call) const override {
    const std::lock_guard lock{mutex};
    if (graphs::current != nullptr) return graphs::record_kernel(call, sizeof(Argument), runner());
    count(&DeviceCounts::operators);
    const InOperator inside{"a kernel"};
    runner()(call);
  }

 private:
  [[nodiscard]] std::function<void(const tensor::KernelCall&)> runner() const {
    return [kernel = kernel_](const tensor::KernelCall& call) {
      const OpenToKernel open{call};
      run_grid(kernel, call.blocks, call.threads, *static_cast<const Argument*>(call.argument));
    };
  }

  void (*kernel_)(Argument);
};

// A graph as a program has it. See support/fake_graphs.hpp.
class FakeGraph : public tensor::DeviceGraph {
 public:
  explicit FakeGraph(c10::Device device) : device_{device} {}
  ~FakeGraph() override {
    const std::lock_guard lock{mutex};
    graph_.reset();
  }

  void begin(const tensor::DeviceGraph* beside) override {
    const std::lock_guard lock{mutex};
    make(arrivals, [](const Copy&) { return true; });
    graph_ = std::make_unique<graphs::Graph>();
    graph_->pool = beside != nullptr ? static_cast<const FakeGraph*>(beside)->graph_->pool
                                     : std::make_shared<Pool>();
    numbers_ = default_generator().get_state();
    capture_ = {graph_.get(), streams::current_stream(device_.index())};
    graphs::begin(capture_);
  }
  void end() override {
    const std::lock_guard lock{mutex};
    graphs::end();
    default_generator().set_state(numbers_);
  }
  void replay() const override {
    const std::lock_guard lock{mutex};
    graphs::refuse_in_capture("a graph is replayed");
    count(&DeviceCounts::operators);
    count(&DeviceCounts::replays);
    graph_->memory.check();
    const InOperator inside{"a graph"};
    const at::NoGradGuard no_gradients;
    for (const graphs::Node& node : graph_->nodes) node(graph_->memory);
  }

 private:
  c10::Device device_;
  std::unique_ptr<graphs::Graph> graph_;
  graphs::Capture capture_ = {};
  at::Tensor numbers_;  // the generator's state before the capture
};

}  // namespace

extern "C" const tensor::DeviceKernel* seqtrain_load_kernel(const cuda::KernelSource& source,
                                                            c10::Device device) {
  if (device.type() != type) return nullptr;
  // The kernel that this variable names does nothing, as one whose launch a driver refuses.
  const char* const idle = std::getenv("SEQTRAIN_FAKE_IDLE_KERNEL");
  const auto kernel = [&]<class Argument>(void (*call)(Argument)) {
    const bool is_idle = idle != nullptr && source.name == std::string_view{idle};
    return new HostKernel<Argument>{is_idle ? [](Argument) {} : call};
  };
  if (source.name == cuda::adam_kernel.name) return kernel(&seqtrain_adam);
  if (source.name == cuda::layer_norm_kernel.name) return kernel(&seqtrain_layer_norm);
  if (source.name == cuda::layer_norm_backward_kernel.name)
    return kernel(&seqtrain_layer_norm_backward);
  if (source.name == cuda::layer_norm_gradients_kernel.name)
    return kernel(&seqtrain_layer_norm_gradients);
  if (source.name == cuda::norm_kernel.name) return kernel(&seqtrain_norm);
  if (source.name == cuda::squares_kernel.name) return kernel(&seqtrain_squares);
  return nullptr;
}

// No graph can be made if the environment has SEQTRAIN_FAKE_HAS_NO_GRAPHS.
extern "C" tensor::DeviceGraph* seqtrain_make_graph(c10::Device device) {
  const bool has_graphs =
      device.type() == type && std::getenv("SEQTRAIN_FAKE_HAS_NO_GRAPHS") == nullptr;
  return has_graphs ? new FakeGraph{device} : nullptr;
}

DeviceCounts device_counts() {
  const std::lock_guard lock{mutex};
  return counts;
}

std::int64_t waits_of_this_thread() {
  return waits_here;
}

void reset_device_counts() {
  const std::lock_guard lock{mutex};
  counts = {};
}

}  // namespace seqtrain::tests
