#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_archive.hpp>
#include <seqtrain/weights/zip_writer.hpp>

namespace seqtrain::weights {

namespace detail {

/// Writes the pickle that torch.save makes, in protocol 2, of a state_dict of contiguous tensors on
/// the CPU, each with its own storage.
class StateDictPickler {
 public:
  std::string pickle(std::span<const TensorView> tensors) {
    out_ = "\x80\x02";
    ordered_dict();
    out_ += '(';
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      string(tensors[i].name);
      tensor(tensors[i], std::to_string(i));
    }
    return out_ + "u.";
  }

 private:
  void tensor(const TensorView& tensor, const std::string& key) {
    out_ += "ctorch._utils\n_rebuild_tensor_v2\n(";
    storage(tensor, key);
    integer(0);
    tuple(tensor.shape);
    tuple(strides(tensor.shape));
    out_ += '\x89';  // requires_grad = False
    ordered_dict();  // no hooks
    out_ += "tR";
  }

  void storage(const TensorView& tensor, const std::string& key) {
    out_ += '(';
    string("storage");
    constexpr std::size_t module = std::string_view{"torch."}.size();
    out_ += "ctorch\n" + std::string{storage_class(tensor.dtype).substr(module)} + "\n";
    string(key);
    string("cpu");
    integer(static_cast<std::int64_t>(tensor.bytes.size() / size_of(tensor.dtype)));
    out_ += "tQ";
  }

  /// Returns torch's strides of a contiguous tensor. An empty dimension counts as 1.
  static std::vector<std::int64_t> strides(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> result(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      result[i] = stride;
      if (shape[i] > 1) stride *= shape[i];
    }
    return result;
  }

  void ordered_dict() { out_ += "ccollections\nOrderedDict\n)R"; }

  void tuple(std::span<const std::int64_t> numbers) {
    out_ += '(';
    for (const auto number : numbers) integer(number);
    out_ += 't';
  }

  void integer(std::int64_t number) {
    if (number >= 0 && number <= std::numeric_limits<std::int32_t>::max()) {
      out_ += 'J';
      append_little_endian(out_, static_cast<std::uint32_t>(number));
    } else {
      out_ += "\x8a\x08";
      append_little_endian(out_, static_cast<std::uint64_t>(number));
    }
  }

  void string(std::string_view text) {
    out_ += 'X';
    append_little_endian(out_, static_cast<std::uint32_t>(text.size()));
    out_ += text;
  }

  std::string out_;
};

}  // namespace detail

/// Writes tensors as a state_dict that torch.load(weights_only=True) reads, in the given order. The
/// file appears as a whole or not at all, and bytes are not copied. Throws `InputError` if names
/// repeat or bytes do not fit a shape.
inline void write_torch_file(const std::filesystem::path& path,
                             std::span<const TensorView> tensors) {
  check_consistent(tensors, path.string());
  ZipWriter zip{path};
  zip.add("archive/data.pkl", detail::StateDictPickler{}.pickle(tensors));
  zip.add("archive/byteorder", "little");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    zip.add("archive/data/" + std::to_string(i), tensors[i].bytes);
  }
  zip.add("archive/version", "3\n");
  zip.commit();
}

}  // namespace seqtrain::weights
