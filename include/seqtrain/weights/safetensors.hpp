#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::weights {

/// Returns the tensors in the bytes of a safetensors file, in the order of its header. The file has
/// eight bytes with the header's length, a JSON header with dtype, shape and data_offsets of each
/// tensor, and the data. The tensors must cover the data without overlap or gap. Throws
/// `InputError` with `file` and the tensor if anything does not fit.
inline std::vector<TensorView> parse_safetensors(std::span<const std::byte> bytes,
                                                 const std::string& file);

/// A mapped safetensors file. The tensors' bytes are views of the file and live as long as this
/// object. They may be overwritten in memory, which does not change the file.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path)
      : file_{path, MappedFile::Pages::writable, MappedFile::Changes::watched},
        tensors_{parse_safetensors(file_.bytes(), path.string())} {}

  [[nodiscard]] const std::vector<TensorView>& tensors() const { return tensors_; }

  /// Tells whether a tensor's bytes belong to this file.
  [[nodiscard]] bool has(const TensorView& tensor) const noexcept {
    const std::string_view bytes = as_text(tensor.bytes);
    const std::string_view all = file_.text();
    const std::less_equal<> before;
    return before(all.data(), bytes.data()) &&
           before(bytes.data() + bytes.size(), all.data() + all.size());
  }

  /// Frees the memory of the bytes of a tensor that the file has. They stay readable: they are read
  /// from the file again.
  void forget(const TensorView& tensor) const noexcept { file_.forget(as_text(tensor.bytes)); }

  /// Throws `Error` if the file has changed since it was opened. Call it when the tensors' bytes
  /// have been read, because they may then be any bytes.
  void check_unchanged() const { file_.check_unchanged(); }

 private:
  MappedFile file_;
  std::vector<TensorView> tensors_;
};

/// Writes tensors to a file without copying their bytes. The header has the given order. Data of
/// types with larger elements comes first, so that every element is aligned to its size. Throws
/// `InputError` if names repeat or bytes do not fit a shape. transformers requires `metadata`.
inline void write_safetensors(const std::filesystem::path& path,
                              std::span<const TensorView> tensors,
                              const std::map<std::string, std::string>& metadata = {
                                  {"format", "pt"}});

/// The bytes of a safetensors file: `head`, then the tensors' bytes in order.
struct SafetensorsPieces {
  std::string head;
  std::vector<std::span<const std::byte>> data;
};

/// Returns the bytes that `write_safetensors` writes. Errors name `file`.
inline SafetensorsPieces safetensors_pieces(std::span<const TensorView> tensors,
                                            const std::string& file,
                                            const std::map<std::string, std::string>& metadata = {
                                                {"format", "pt"}});

namespace detail {

inline constexpr std::string_view safetensors_metadata = "__metadata__";
inline constexpr std::size_t safetensors_prefix = sizeof(std::uint64_t);
/// The longest header in bytes. The safetensors library has the same limit.
inline constexpr std::uint64_t safetensors_header_limit = 100'000'000;

inline std::string_view safetensors_header(std::span<const std::byte> bytes,
                                           const std::string& file) {
  const auto fail = [&](const std::string& problem) -> InputError {
    return InputError{problem, {.object = file}, "it is not a safetensors file, or was cut off"};
  };
  constexpr std::string_view pointer = "version https://git-lfs.github.com/spec/";
  if (as_text(bytes).starts_with(pointer)) {
    throw InputError{"is a pointer of git-lfs and not the file itself",
                     {.object = file},
                     "fetch the file by: git lfs pull"};
  }
  if (bytes.size() < safetensors_prefix) throw fail("too short to hold a header");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - safetensors_prefix) throw fail("header longer than the file");
  if (length > safetensors_header_limit) throw fail("header longer than 100 MB");
  return as_text(bytes.subspan(safetensors_prefix, static_cast<std::size_t>(length)));
}

inline std::vector<std::int64_t> safetensors_shape(const json::Value& sizes) {
  std::vector<std::int64_t> shape;
  for (const auto& size : sizes.items()) {
    shape.push_back(size.integer());
    if (shape.back() < 0) throw size.error("negative");
  }
  return shape;
}

inline TensorView safetensors_tensor(std::string_view key, const json::Value& entry,
                                     std::span<const std::byte> data) {
  TensorView tensor{.name = std::string{key}};
  const auto type = entry.at("dtype");
  const auto dtype = dtype_named(type.string());
  if (!dtype) throw type.error("unknown dtype " + std::string{type.string()});
  tensor.dtype = *dtype;
  tensor.shape = safetensors_shape(entry.at("shape"));
  const auto place = entry.at("data_offsets");
  const auto ends = place.items();
  if (ends.size() != 2) throw place.error("expected two offsets");
  const auto begin = ends[0].integer();
  const auto end = ends[1].integer();
  if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > data.size()) {
    throw place.error("out of bounds of the " + std::to_string(data.size()) + " bytes of data",
                      "was the file cut off?");
  }
  tensor.bytes =
      data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  if (byte_size(tensor.dtype, tensor.shape) != tensor.bytes.size()) {
    throw place.error(std::to_string(tensor.bytes.size()) + " bytes do not fit shape " +
                      to_string(tensor.shape) + " of " + std::string{name(tensor.dtype)});
  }
  return tensor;
}

/// Throws `InputError` unless the tensors cover each byte of the data once.
inline void check_coverage(const std::vector<TensorView>& tensors, std::span<const std::byte> data,
                           const std::string& file) {
  std::vector<const TensorView*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const TensorView* tensor) {
    return std::pair{tensor->bytes.data(), tensor->bytes.size()};
  });
  const std::byte* covered = data.data();
  for (const auto* tensor : order) {
    if (tensor->bytes.data() != covered) {
      throw InputError{"its bytes overlap another tensor's or leave a gap",
                       {.object = file, .field = tensor->name}};
    }
    covered += tensor->bytes.size();
  }
  if (covered != data.data() + data.size()) {
    throw InputError{"bytes after the last tensor", {.object = file}};
  }
}

inline void check_names_allowed(std::span<const TensorView> tensors, const std::string& file) {
  for (const auto& tensor : tensors) {
    if (tensor.name != safetensors_metadata) continue;
    throw InputError{"no tensor can have this name", {.object = file, .field = tensor.name}};
  }
}

/// Returns the tensors in the order of their data in the file: by descending size of an element,
/// otherwise in the given order.
inline std::vector<const TensorView*> safetensors_layout(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::ranges::stable_sort(order, std::greater{},
                           [](const TensorView* tensor) { return size_of(tensor->dtype); });
  return order;
}

inline void write_entry(json::Writer& header, const TensorView& tensor, std::uint64_t begin) {
  header.key(tensor.name).begin_object().member("dtype", name(tensor.dtype));
  header.member("shape", tensor.shape).key("data_offsets").begin_array();
  header.value(begin).value(begin + tensor.bytes.size()).end_array().end_object();
}

inline std::string make_safetensors_header(std::span<const TensorView> tensors,
                                           const std::map<std::string, std::string>& metadata) {
  std::map<const TensorView*, std::uint64_t> begins;
  std::uint64_t end = 0;
  for (const auto* tensor : safetensors_layout(tensors)) {
    begins[tensor] = end;
    end += tensor->bytes.size();
  }
  json::Writer header;
  header.begin_object();
  if (!metadata.empty()) {
    header.key(safetensors_metadata).begin_object();
    for (const auto& [key, value] : metadata) header.member(key, value);
    header.end_object();
  }
  for (const auto& tensor : tensors) write_entry(header, tensor, begins.at(&tensor));
  header.end_object();
  std::string text = header.text();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data begins at a multiple of 8
  return text;
}

}  // namespace detail

inline std::vector<TensorView> parse_safetensors(std::span<const std::byte> bytes,
                                                 const std::string& file) {
  const auto header = detail::safetensors_header(bytes, file);
  const auto data = bytes.subspan(detail::safetensors_prefix + header.size());
  const auto document = json::Document::parse(header, file);
  std::vector<TensorView> tensors;
  for (const auto& [key, entry] : document.root().members()) {
    if (key == detail::safetensors_metadata) continue;
    tensors.push_back(detail::safetensors_tensor(key, entry, data));
  }
  check_names_differ(tensors, file);
  detail::check_coverage(tensors, data, file);
  return tensors;
}

inline SafetensorsPieces safetensors_pieces(std::span<const TensorView> tensors,
                                            const std::string& file,
                                            const std::map<std::string, std::string>& metadata) {
  detail::check_names_allowed(tensors, file);
  check_consistent(tensors, file);
  const auto header = detail::make_safetensors_header(tensors, metadata);
  const std::uint64_t length = header.size();
  SafetensorsPieces pieces;
  pieces.head.assign(reinterpret_cast<const char*>(&length), sizeof length);
  pieces.head += header;
  for (const auto* tensor : detail::safetensors_layout(tensors)) {
    pieces.data.push_back(tensor->bytes);
  }
  return pieces;
}

inline void write_safetensors(const std::filesystem::path& path,
                              std::span<const TensorView> tensors,
                              const std::map<std::string, std::string>& metadata) {
  const auto pieces = safetensors_pieces(tensors, path.string(), metadata);
  AtomicFile file{path};
  file.write(pieces.head);
  for (const auto bytes : pieces.data) file.write(bytes);
  file.commit();
}

}  // namespace seqtrain::weights
