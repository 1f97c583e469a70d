#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/read_text.hpp>
#include <seqtrain/cuda/kernel_source.hpp>
#include <seqtrain/cuda/nvrtc.hpp>

namespace seqtrain::cuda {

/// Cubins in a folder, a file for each kernel, architecture and version of NVRTC. A file holds the
/// whole text that it was compiled from and a checksum, and it appears whole or not at all. If it
/// is damaged, or of another text, the kernel is compiled again. Several processes may use the
/// folder at once.
class CubinCache {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` gets a sentence if the folder cannot be written. The kernels are then compiled by each
  /// process.
  CubinCache(std::filesystem::path folder, Say say)
      : folder_{std::move(folder)}, say_{std::move(say)} {}

  /// Returns the cubin, and compiles it if the folder does not have it. Throws `Error` if it cannot
  /// be compiled.
  [[nodiscard]] std::string get(const KernelSource& source, int architecture,
                                const Nvrtc& nvrtc) const {
    const std::string key = key_of(source, architecture, nvrtc);
    const auto file = file_of(source, architecture, key);
    std::string found = read(file, key);
    if (!found.empty()) return found;
    std::string cubin = nvrtc.compile(source, architecture);
    write(file, key, cubin);
    return cubin;
  }

  /// Returns the file of a kernel, which need not exist.
  [[nodiscard]] std::filesystem::path file_of(const KernelSource& source, int architecture,
                                              const Nvrtc& nvrtc) const {
    return file_of(source, architecture, key_of(source, architecture, nvrtc));
  }

 private:
  static std::string key_of(const KernelSource& source, int architecture, const Nvrtc& nvrtc) {
    std::string key = "NVRTC " + nvrtc.version() + " sm_" + std::to_string(architecture);
    for (const char* option : Nvrtc::options) key.append(" ").append(option);
    return key.append("\n").append(source.text);
  }

  [[nodiscard]] std::filesystem::path file_of(const KernelSource& source, int architecture,
                                              const std::string& key) const {
    return folder_ / (std::string{source.name} + "-sm_" + std::to_string(architecture) + "-" +
                      Crc32c{}.update(key).hex() + ".cubin");
  }

  /// Returns what a file begins with: a line with the checksum of the rest, and the key.
  static std::string head_of(const std::string& key, std::string_view cubin) {
    return "seqtrain cubin " + Crc32c{}.update(key).update(cubin).hex() + "\n" + key;
  }

  /// Returns the cubin in a file, or an empty string if it has none of this key.
  static std::string read(const std::filesystem::path& file, const std::string& key) {
    std::string text;
    try {
      text = read_text(file);
    } catch (const Error&) {
      return {};
    }
    const std::size_t size = head_of(key, {}).size();
    if (text.size() <= size) return {};
    std::string cubin = text.substr(size);
    return text.starts_with(head_of(key, cubin)) ? cubin : std::string{};
  }

  void write(const std::filesystem::path& file, const std::string& key,
             const std::string& cubin) const {
    try {
      with_file_errors([&] { std::filesystem::create_directories(folder_); });
      AtomicFile to{file};
      to.write(head_of(key, cubin));
      to.write(cubin);
      to.commit();
    } catch (const Error& error) {
      if (say_) say_(std::string{"compiled kernels cannot be kept: "} + error.what());
    }
  }

  std::filesystem::path folder_;
  Say say_;
};

}  // namespace seqtrain::cuda
