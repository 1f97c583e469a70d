#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/pickle.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/unpickle.hpp>
#include <seqtrain/weights/zip.hpp>

namespace seqtrain::weights {

/// The layout of a tensor in a storage, in elements: neighbours in dimension i are strides[i]
/// apart.
struct Strided {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> strides = {};
};

/// Returns one more than the index of the last element of the storage that the tensor uses, or 0
/// for a tensor without elements. Returns nothing if the layout is invalid: a negative number, a
/// missing stride, a result of more than 63 bits.
inline std::optional<std::int64_t> extent(const Strided& layout) {
  if (layout.offset < 0 || layout.shape.size() != layout.strides.size()) return {};
  std::int64_t last = layout.offset;
  bool empty = false;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    const auto size = layout.shape[i];
    const auto stride = layout.strides[i];
    if (size < 0 || stride < 0) return {};
    if (size == 0) empty = true;
    if (size <= 1 || stride == 0) continue;
    if (size - 1 > (std::numeric_limits<std::int64_t>::max() - 1 - last) / stride) return {};
    last += (size - 1) * stride;
  }
  return empty ? 0 : last + 1;
}

/// Tells whether the elements are stored row by row without gaps. The layout must have an `extent`.
inline bool contiguous(const Strided& layout) {
  if (std::ranges::count(layout.shape, 0) > 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = layout.shape.size(); i-- > 0;) {
    if (layout.shape[i] == 1) continue;
    if (layout.strides[i] != expected) return false;
    expected *= layout.shape[i];
  }
  return true;
}

/// Copies the elements to `out`, row by row. The storage must have `extent` elements, and `out`
/// must have room for all elements of the shape, which has at least one.
inline void gather(std::span<const std::byte> storage, const Strided& layout,
                   std::size_t element_size, std::span<std::byte> out) {
  std::vector<std::int64_t> index(layout.shape.size(), 0);
  std::int64_t at = layout.offset;
  for (std::size_t to = 0; to < out.size(); to += element_size) {
    std::memcpy(out.data() + to, storage.data() + static_cast<std::size_t>(at) * element_size,
                element_size);
    for (std::size_t i = index.size(); i-- > 0;) {  // the next index, its last dimension first
      if (index[i] + 1 < layout.shape[i]) {
        ++index[i];
        at += layout.strides[i];
        break;
      }
      at -= index[i] * layout.strides[i];
      index[i] = 0;
    }
  }
}

}  // namespace seqtrain::weights

namespace seqtrain::weights::detail {

struct Storage {
  DType dtype;
  std::span<const std::byte> bytes;
};

inline constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor_v2";
inline constexpr std::string_view rebuild_parameter = "torch._utils._rebuild_parameter";
inline std::vector<std::string_view> torch_globals() {
  std::vector<std::string_view> names{"collections.OrderedDict", rebuild_tensor, rebuild_parameter};
  for (const auto& traits : dtype_traits) names.push_back(traits.storage);
  return names;
}

/// A file of torch.save: the zip archive, its pickle, and the tensors that the pickle describes.
class TorchArchive {
 public:
  TorchArchive(std::span<const std::byte> bytes, const std::string& file)
      : file_{file}, budget_{4 * bytes.size() + (std::size_t{1} << 20)} {
    refuse_old_format(bytes);
    entries_ = parse_zip(bytes, file_);
    find_prefix();
    pickle_ = parse_pickle(entry("data.pkl"), file_, torch_globals());
    for (Pickle::Ref ref = 0; ref < pickle_.values.size(); ++ref) {
      current_ = ref;
      add_tensor(ref);
    }
  }
  TorchArchive(const TorchArchive&) = delete;
  TorchArchive& operator=(const TorchArchive&) = delete;

  [[nodiscard]] const Pickle& pickle() const { return pickle_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Returns the tensor at `ref`, without a name, or null if there is none.
  [[nodiscard]] const TensorView* tensor(Pickle::Ref ref) const {
    const auto place = tensors_.find(ref);
    return place == tensors_.end() ? nullptr : &place->second;
  }

 private:
  using Ref = Pickle::Ref;
  static constexpr std::size_t dimension_limit = 64;  // torch's own limit

  void refuse_old_format(std::span<const std::byte> bytes) const {
    if (bytes.empty() || bytes.front() != std::byte{0x80}) return;
    throw InputError{"is in torch's old format, not a zip archive",
                     {.object = file_},
                     "convert it: python -c \"import sys, torch; f = sys.argv[1]; "
                     "torch.save(torch.load(f, map_location='cpu', weights_only=True), f)\" " +
                         file_};
  }

  /// Finds the folder that contains all entries. It may have any name.
  void find_prefix() {
    constexpr std::string_view pickle_name = "/data.pkl";
    for (const auto& [name, bytes] : entries_) {
      if (name.ends_with(pickle_name) && name.find('/') == name.size() - pickle_name.size()) {
        prefix_ = name.substr(0, name.find('/') + 1);
      }
    }
    require(!prefix_.empty(), "contains no data.pkl, so torch.save did not write it");
    const auto order = entries_.find(prefix_ + "byteorder");
    require(order == entries_.end() || as_text(order->second) == "little",
            "its numbers are not little-endian");
  }

  [[nodiscard]] std::span<const std::byte> entry(const std::string& name) const {
    const auto place = entries_.find(prefix_ + name);
    require(place != entries_.end(), "no entry " + name);
    return place->second;
  }

  void add_tensor(Ref ref) {
    const auto* call = pickle_.get_if<Pickle::Call>(ref);
    if (call == nullptr) return;
    const auto& function = pickle_.get_if<Pickle::Global>(call->function)->name;
    const auto& arguments = pickle_.get_if<Pickle::Tuple>(call->arguments)->items;
    if (function == rebuild_tensor) {
      tensors_.emplace(ref, rebuilt(arguments));
    } else if (function == rebuild_parameter) {
      const auto* data = arguments.empty() ? nullptr : tensor(arguments[0]);
      require(data != nullptr, "a parameter without data");
      tensors_.emplace(ref, TensorView{*data});
    } else {
      throw error("a call of " + function);
    }
  }

  /// Returns the tensor that the arguments (storage, offset, size, strides, …) describe.
  [[nodiscard]] TensorView rebuilt(const std::vector<Ref>& arguments) {
    require(arguments.size() >= 4, "a tensor with too few arguments");
    const auto [dtype, bytes] = storage(arguments[0]);
    const Strided layout{.offset = integer(arguments[1]),
                         .shape = integers(arguments[2]),
                         .strides = integers(arguments[3])};
    const auto end = extent(layout);
    const auto size = byte_size(dtype, layout.shape);
    require(end && size && static_cast<std::uint64_t>(*end) <= bytes.size() / size_of(dtype),
            "a tensor beyond its storage");
    TensorView tensor{.name = "", .dtype = dtype, .shape = layout.shape};
    if (*size == 0) return tensor;
    tensor.bytes = contiguous(layout)
                       ? bytes.subspan(static_cast<std::size_t>(layout.offset) * size_of(dtype),
                                       static_cast<std::size_t>(*size))
                       : copy(bytes, layout, size_of(dtype), *size);
    return tensor;
  }

  /// Copies the elements row by row. The size is limited, because an expanded tensor may be far
  /// larger than its storage.
  [[nodiscard]] std::span<const std::byte> copy(std::span<const std::byte> storage,
                                                const Strided& layout, std::size_t element_size,
                                                std::uint64_t size) {
    require(size <= budget_, "tensors far larger than the file");
    budget_ -= size;
    auto& owned = copies_.emplace_back(static_cast<std::size_t>(size));
    gather(storage, layout, element_size, owned);
    return owned;
  }

  /// Returns the entry data/<key> that ("storage", class, key, device, number of elements) names.
  [[nodiscard]] Storage storage(Ref ref) const {
    const auto* persistent = pickle_.get_if<Pickle::Persistent>(ref);
    const auto* id = persistent ? pickle_.get_if<Pickle::Tuple>(persistent->id) : nullptr;
    require(id != nullptr && id->items.size() >= 5, "a tensor without a storage");
    const auto* kind = pickle_.get_if<Pickle::Global>(id->items[1]);
    const auto* key = pickle_.get_if<std::string_view>(id->items[2]);
    require(kind != nullptr && key != nullptr, "a storage of an unknown kind");
    const std::optional<DType> dtype = dtype_of_storage(kind->name);
    require(dtype.has_value(), "a storage of an unknown kind");
    const auto bytes = entry("data/" + std::string{*key});
    const auto count = integer(id->items[4]);
    require(count >= 0 && static_cast<std::uint64_t>(count) <= bytes.size() / size_of(*dtype),
            "storage " + std::string{*key} + " is shorter than it should be");
    return {*dtype, bytes};
  }

  [[nodiscard]] std::int64_t integer(Ref ref) const {
    const auto* number = pickle_.get_if<std::int64_t>(ref);
    require(number != nullptr, "a tensor's description has something other than an integer");
    return *number;
  }

  [[nodiscard]] std::vector<std::int64_t> integers(Ref ref) const {
    const auto* tuple = pickle_.get_if<Pickle::Tuple>(ref);
    require(tuple != nullptr, "a tensor's description has something other than a tuple");
    require(tuple->items.size() <= dimension_limit, "a tensor of more than 64 dimensions");
    std::vector<std::int64_t> numbers;
    for (const auto item : tuple->items) numbers.push_back(integer(item));
    return numbers;
  }

  void require(bool holds, const std::string& problem) const {
    if (!holds) throw error(problem);
  }

  [[nodiscard]] InputError error(const std::string& problem) const {
    return InputError{problem, {.object = file_, .field = name_of(current_)}};
  }

  /// Returns the key under which a dict has the value, or "" if none has it.
  [[nodiscard]] std::string name_of(std::optional<Ref> ref) const {
    for (Ref dict = 0; ref && dict < pickle_.values.size(); ++dict) {
      const auto* found = pickle_.get_if<Pickle::Dict>(dict);
      if (found == nullptr) continue;
      for (const auto& [key, value] : found->members) {
        const auto* name = pickle_.get_if<std::string_view>(key);
        if (value == *ref && name != nullptr) return std::string{*name};
      }
    }
    return {};
  }

  std::string file_;
  std::uint64_t budget_;
  ZipEntries entries_;
  std::string prefix_;
  Pickle pickle_;
  std::optional<Ref> current_;  // the value that is read as a tensor
  std::unordered_map<Ref, TensorView> tensors_;
  std::vector<std::vector<std::byte>> copies_;  // the inner vectors' memory does not move
};

}  // namespace seqtrain::weights::detail
