#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/checkpoint/state_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/shared_checkpointer.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::dist {
namespace detail {

inline constexpr std::array<const char*, 3> owners{"model", "optimizer", "best_model"};

/// One owner's tensors as a safetensors file in memory.
using TensorFile = std::vector<std::byte>;

inline void send_tensors(Group& group, const train::SavedFit& saved, const char* owner) {
  std::span<const weights::TensorView> tensors;
  try {
    tensors = saved.tensors(owner);
  } catch (const InputError&) {
    (void)group.broadcast("");
    return;
  }
  const auto pieces = weights::safetensors_pieces(tensors, owner);
  std::uint64_t size = pieces.head.size();
  for (const auto piece : pieces.data) size += piece.size();
  TensorFile file(size);
  std::byte* to = file.data();
  const auto append = [&to](std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
  };
  append(std::as_bytes(std::span{pieces.head}));
  for (const auto piece : pieces.data) append(piece);
  (void)group.broadcast(std::to_string(size));
  group.broadcast(std::span{file});
}

}  // namespace detail

SEQTRAIN_SEPARATE std::optional<train::SavedFit> SharedCheckpointer::send(
    const train::FitPlan& plan) {
  std::optional<train::SavedFit> saved;
  try {
    saved = checkpointer_.restore(plan);
  } catch (const std::exception& error) {
    (void)group_->broadcast("error " + std::string{error.what()});
    throw;
  }
  (void)group_->broadcast(saved ? "saved " + checkpoint::to_json(saved->state, {}) : "none");
  if (!saved) return saved;
  for (const char* owner : detail::owners) detail::send_tensors(*group_, *saved, owner);
  return saved;
}

SEQTRAIN_SEPARATE std::optional<train::SavedFit> SharedCheckpointer::receive() {
  const std::string message = group_->broadcast("");
  if (message == "none") return {};
  constexpr std::string_view head = "saved ";
  if (!message.starts_with(head)) {
    throw InputError{"rank 0 refused to start: " + message.substr(message.find(' ') + 1)};
  }
  const auto document = json::Document::parse(message.substr(head.size()), "rank 0's checkpoint");
  auto files = std::make_shared<std::map<std::string, detail::TensorFile, std::less<>>>();
  auto tensors =
      std::make_shared<std::map<std::string, std::vector<weights::TensorView>, std::less<>>>();
  for (const char* owner : detail::owners) {
    const std::string size = group_->broadcast("");
    if (size.empty()) continue;
    detail::TensorFile& file = (*files)[owner];
    file.resize(std::stoull(size));
    group_->broadcast(std::span{file});
    (*tensors)[owner] = weights::parse_safetensors(file, owner);
  }
  return train::SavedFit{
      checkpoint::state_in(document.root()),
      [files, tensors](std::string_view owner) -> std::span<const weights::TensorView> {
        const auto found = tensors->find(owner);
        if (found != tensors->end()) return found->second;
        throw InputError{"is not in rank 0's checkpoint", {.object = std::string{owner}}};
      }};
}

}  // namespace seqtrain::dist
