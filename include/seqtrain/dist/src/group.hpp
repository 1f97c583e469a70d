#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/group_connection.hpp>
#include <seqtrain/dist/link.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/store.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {
namespace detail {

inline WorkPtr gathering(::c10d::Backend& backend, at::Tensor to, at::Tensor from) {
  ::c10d::AllgatherOptions options;
  options.timeout = endless;
  return backend._allgather_base(to, from, options);
}

inline Pending copy(const at::Tensor& out, const at::Tensor& in) {
  if (out.numel() > 0) out.view(-1).copy_(in.view(-1));
  return {};
}

}  // namespace detail

SEQTRAIN_SEPARATE Group::Group(const World& world, const GroupOptions& options)
    : world_{world}, options_{options} {
  if (world.size > 1) connection_ = std::make_unique<detail::GroupConnection>(world, options);
}

SEQTRAIN_SEPARATE Group::Group(Group&&) noexcept = default;
SEQTRAIN_SEPARATE Group& Group::operator=(Group&&) noexcept = default;
SEQTRAIN_SEPARATE Group::~Group() = default;

SEQTRAIN_SEPARATE bool Group::through_host() const {
  return connection_ && connection_->through_host();
}

SEQTRAIN_SEPARATE std::vector<std::string> Group::all_gather(std::string_view bytes) {
  if (!connection_) return {std::string{bytes}};
  const auto sizes = gathered_sizes(bytes.size());
  const auto longest = *std::max_element(sizes.begin(), sizes.end());
  if (longest == 0) return std::vector<std::string>(sizes.size());
  auto in = at::zeros({longest}, at::kByte);
  std::memcpy(in.mutable_data_ptr(), bytes.data(), bytes.size());
  const auto out = at::empty({longest * size()}, at::kByte);
  connection_->pending(detail::gathering(connection_->host(), out, in)).wait();
  std::vector<std::string> result;
  for (const auto length : sizes) {
    const auto offset = static_cast<std::int64_t>(result.size()) * longest;
    result.emplace_back(static_cast<const char*>(out.const_data_ptr()) + offset,
                        static_cast<std::size_t>(length));
  }
  return result;
}

SEQTRAIN_SEPARATE std::string Group::broadcast(std::string bytes) {
  if (!connection_) return bytes;
  std::uint64_t length = bytes.size();
  broadcast(std::as_writable_bytes(std::span{&length, 1}));
  bytes.resize(length);
  broadcast(std::as_writable_bytes(std::span{bytes}));
  return bytes;
}

SEQTRAIN_SEPARATE void Group::broadcast(std::span<std::byte> bytes) {
  if (!connection_) return;
  // Sent in pieces with their own memory: if a rank is lost, a piece may be written to after this
  // has thrown.
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
    std::vector<at::Tensor> tensors{at::empty({static_cast<std::int64_t>(part.size())}, at::kByte)};
    auto* const data = tensors.front().mutable_data_ptr();
    if (rank() == 0) std::memcpy(data, part.data(), part.size());
    ::c10d::BroadcastOptions options;
    options.timeout = detail::endless;
    connection_->pending(connection_->host().broadcast(tensors, options)).wait();
    if (rank() != 0) std::memcpy(part.data(), data, part.size());
  }
}

SEQTRAIN_SEPARATE Pending Group::all_to_all(at::Tensor out, const at::Tensor& in,
                                            std::vector<std::int64_t> out_sizes,
                                            std::vector<std::int64_t> in_sizes) {
  check_sizes(out, out_sizes);
  check_sizes(in, in_sizes);
  if (!connection_) return detail::copy(out, in);
  ::c10d::AllToAllOptions options;
  options.timeout = detail::endless;
  auto to = out.view(-1), from = in.view(-1);
  return connection_->pending(
      connection_->tensors().alltoall_base(to, from, out_sizes, in_sizes, options));
}

SEQTRAIN_SEPARATE Pending Group::all_gather(at::Tensor out, const at::Tensor& in) {
  if (out.numel() != size() * in.numel()) throw Error{"all_gather: out is not size × in"};
  if (!connection_) return detail::copy(out, in);
  if (in.numel() == 0) return {};
  return connection_->pending(detail::gathering(connection_->tensors(), out.view(-1), in.view(-1)));
}

SEQTRAIN_SEPARATE Pending Group::all_reduce(at::Tensor tensor) {
  if (!connection_ || tensor.numel() == 0) return {};
  std::vector<at::Tensor> tensors{tensor.view(-1)};
  ::c10d::AllreduceOptions options;
  options.timeout = detail::endless;
  return connection_->pending(connection_->tensors().allreduce(tensors, options));
}

SEQTRAIN_SEPARATE Remembered Group::remember(const std::string& key,
                                             const std::function<std::string()>& make) {
  if (!connection_ && !world_.agent_store) return {.value = make()};
  std::string answer;
  if (rank() == 0) {
    const auto [value, was_there] = recall("remember/" + key, make);
    answer = (was_there ? "1" : "0") + value;
  }
  answer = broadcast(std::move(answer));
  return {.value = answer.substr(1), .was_there = answer.front() == '1'};
}

SEQTRAIN_SEPARATE void Group::fail_note(const std::string& error) noexcept {
  try {
    if (connection_) connection_->heartbeat().tell(error);
  } catch (const std::exception&) {  // The other ranks notice it themselves.
  }
}

SEQTRAIN_SEPARATE Remembered Group::recall(const std::string& key,
                                           const std::function<std::string()>& make) {
  const auto store = run_store();
  if (store->check({key})) return {.value = store->get_to_str(key), .was_there = true};
  return {.value = store->compareSet(key, "", make())};
}

SEQTRAIN_SEPARATE StorePtr Group::run_store() const {
  if (connection_) return connection_->run_store();
  return detail::prefixed(detail::run_prefix(world_),
                          open_store(world_, Clock::now() + options_.timeout));
}

SEQTRAIN_SEPARATE std::vector<std::int64_t> Group::gathered_sizes(std::size_t own) {
  const auto in = at::empty({1}, at::kLong);
  *in.mutable_data_ptr<std::int64_t>() = static_cast<std::int64_t>(own);
  const auto out = at::empty({size()}, at::kLong);
  connection_->pending(detail::gathering(connection_->host(), out, in)).wait();
  const auto* const data = out.const_data_ptr<std::int64_t>();
  return {data, data + size()};
}

SEQTRAIN_SEPARATE void Group::check_sizes(const at::Tensor& tensor,
                                          const std::vector<std::int64_t>& sizes) const {
  const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (static_cast<int>(sizes.size()) != size() || sum != tensor.numel()) {
    throw Error{"all_to_all: " + std::to_string(sizes.size()) + " parts of together " +
                std::to_string(sum) + " elements do not fit " + std::to_string(size()) +
                " ranks and a tensor of " + std::to_string(tensor.numel())};
  }
}

}  // namespace seqtrain::dist
