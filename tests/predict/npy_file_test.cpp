#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/npy_file.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::predict {
namespace {

TEST(NpyFile, HasTheHeaderThatNumpyReads) {
  const std::string header = npy_header(2, 3);
  EXPECT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 8), std::string_view("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256 * header[9], 118);
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header.back(), '\n');
}

TEST(NpyFile, AppearsWhenItIsComplete) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "a.npy";
  NpyFile file{path};
  const std::vector<float> row{1, 2, 3};
  const std::string_view bytes{reinterpret_cast<const char*>(row.data()), 12};
  file.write(bytes);
  file.write(bytes);
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit(2);
  EXPECT_EQ(tests::read_file(path), npy_header(2, 3) + std::string{bytes} + std::string{bytes});
}

TEST(NpyFile, MayBeEmpty) {
  const tests::TemporaryDirectory directory;
  NpyFile file{directory / "a.npy"};
  file.commit(0);
  EXPECT_EQ(tests::read_file(directory / "a.npy"), npy_header(0, 0));
}

}  // namespace
}  // namespace seqtrain::predict
