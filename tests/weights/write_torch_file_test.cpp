#include <array>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

#include "support/golden_file.hpp"
#include "support/golden_tensors.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

TEST(WriteTorchFile, WritesWhatItReads) {
  const tests::TemporaryDirectory directory;
  const TorchFile file{tests::golden_weights() / "views.pth"};
  write_torch_file(directory / "views.pth", file.root().tensors());
  const TorchFile copy{directory / "views.pth"};
  tests::expect_golden(copy.root().tensors(), tests::golden_weights() / "views.json");
  // tests/golden/check_weights.py reads these bytes in Python.
  tests::expect_same_file(directory / "views.pth", tests::golden_weights() / "written/views.pth");
}

TEST(WriteTorchFile, StoragesLieAtMultiplesOf64) {
  const tests::TemporaryDirectory directory;
  const TorchFile file{tests::golden_weights() / "views.pth"};
  write_torch_file(directory / "m.pth", file.root().tensors());
  const MappedFile mapped{directory / "m.pth"};
  for (const auto& [name, bytes] : parse_zip(mapped.bytes(), "m")) {
    EXPECT_EQ((bytes.data() - mapped.bytes().data()) % 64, 0) << name;
  }
}

TEST(WriteTorchFile, WritesAnEmptyStateDict) {
  const tests::TemporaryDirectory directory;
  write_torch_file(directory / "m.pth", {});
  EXPECT_TRUE(TorchFile{directory / "m.pth"}.root().tensors().empty());
}

TEST(WriteTorchFile, RefusesWhatDoesNotFit) {
  const tests::TemporaryDirectory directory;
  const std::vector<TensorView> tensors{{.name = "a", .shape = {2}}};
  EXPECT_THROW(write_torch_file(directory / "m.pth", tensors), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(WriteTorchFile, NumbersMayNeedMoreThan32Bits) {
  const tests::TemporaryDirectory directory;
  const std::vector<TensorView> tensors{
      {.name = "e", .dtype = DType::u8, .shape = {0, std::int64_t{1} << 40, 3}}};
  write_torch_file(directory / "m.pth", tensors);
  EXPECT_EQ(TorchFile{directory / "m.pth"}.root().tensors().at(0).shape, tensors[0].shape);
}

}  // namespace
}  // namespace seqtrain::weights
