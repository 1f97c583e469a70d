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
#include <seqtrain/train/keeper.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::dist {

/// A `train::Keeper` for training on several processes. Only rank 0 saves. It sends what it
/// restores to the others, so only rank 0 must reach the checkpoints.
class SharedKeeper {
 public:
  /// `keeper` is the keeper of rank 0; other ranks pass null. Both arguments must outlive this
  /// object.
  template <train::Keeper K>
  SharedKeeper(Group& group, K* keeper)
      : group_{&group}, keeper_{keeper ? train::KeeperRef{*keeper} : train::KeeperRef{}} {}

  /// Returns rank 0's saved fit. Rank 0 throws the error of its keeper; the other ranks throw an
  /// `InputError` that repeats it.
  std::optional<train::SavedFit> restore(const train::Plan& plan) {
    if (group_->size() == 1) return keeper_.restore(plan);
    return group_->rank() == 0 ? send(plan) : receive();
  }

  void save(train::Moment moment, const train::FitView& fit) { keeper_.save(moment, fit); }

  [[nodiscard]] std::string problem() const { return keeper_.problem(); }

 private:
  static constexpr std::array<const char*, 3> owners{"model", "optimizer", "best_model"};

  /// One owner's tensors as a safetensors file in memory.
  using File = std::vector<std::byte>;

  std::optional<train::SavedFit> send(const train::Plan& plan) {
    std::optional<train::SavedFit> saved;
    try {
      saved = keeper_.restore(plan);
    } catch (const std::exception& error) {
      (void)group_->broadcast("error " + std::string{error.what()});
      throw;
    }
    (void)group_->broadcast(saved ? "saved " + checkpoint::to_json(saved->state, {}) : "none");
    if (!saved) return saved;
    for (const char* owner : owners) send_tensors(*saved, owner);
    return saved;
  }

  void send_tensors(const train::SavedFit& saved, const char* owner) {
    std::span<const weights::TensorView> tensors;
    try {
      tensors = saved.tensors(owner);
    } catch (const InputError&) {
      (void)group_->broadcast("");
      return;
    }
    const auto pieces = weights::safetensors_pieces(tensors, owner);
    std::uint64_t size = pieces.head.size();
    for (const auto piece : pieces.data) size += piece.size();
    File file(size);
    std::byte* to = file.data();
    const auto append = [&to](std::span<const std::byte> bytes) {
      if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
      to += bytes.size();
    };
    append(std::as_bytes(std::span{pieces.head}));
    for (const auto piece : pieces.data) append(piece);
    (void)group_->broadcast(std::to_string(size));
    group_->broadcast(std::span{file});
  }

  std::optional<train::SavedFit> receive() {
    const std::string message = group_->broadcast("");
    if (message == "none") return {};
    constexpr std::string_view head = "saved ";
    if (!message.starts_with(head)) {
      throw InputError{"rank 0 refused to start: " + message.substr(message.find(' ') + 1)};
    }
    const auto document = json::Document::parse(message.substr(head.size()), "rank 0's checkpoint");
    auto files = std::make_shared<std::map<std::string, File, std::less<>>>();
    auto tensors =
        std::make_shared<std::map<std::string, std::vector<weights::TensorView>, std::less<>>>();
    for (const char* owner : owners) {
      const std::string size = group_->broadcast("");
      if (size.empty()) continue;
      File& file = (*files)[owner];
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

  Group* group_;
  train::KeeperRef keeper_;
};

}  // namespace seqtrain::dist
