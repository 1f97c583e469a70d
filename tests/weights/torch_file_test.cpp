#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/torch_file.hpp>

#include "support/corrupt.hpp"
#include "support/golden_tensors.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

TEST(TorchFile, ReadsEveryKindOfTensor) {
  const TorchFile file{tests::golden_weights() / "views.pth"};
  tests::expect_golden(file.root().tensors(), tests::golden_weights() / "views.json");
}

TEST(TorchFile, ReadsTheNextPickleProtocolToo) {
  const TorchFile file{tests::golden_weights() / "views_protocol4.pth"};
  tests::expect_golden(file.root().tensors(), tests::golden_weights() / "views.json");
}

TEST(TorchFile, ReadsAModulesStateDict) {
  const TorchFile file{tests::golden_weights() / "module.pth"};
  tests::expect_golden(file.root().tensors(), tests::golden_weights() / "module.json");
}

TEST(TorchFile, KeepsTheStateDictsOrder) {
  const TorchFile file{tests::golden_weights() / "module.pth"};
  std::vector<std::string> names;
  for (const auto& tensor : file.root().tensors()) names.push_back(tensor.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
                                      "1.running_var", "1.num_batches_tracked"}));
}

TEST(TorchFile, TensorsOfOneStorageShareTheFilesBytes) {
  const TorchFile file{tests::golden_weights() / "views.pth"};
  const auto base = file.root().at("base").tensor();
  const auto row = file.root().at("row").tensor();
  EXPECT_EQ(row.bytes.data(), base.bytes.data() + 2 * 6 * sizeof(float));
}

TEST(TorchFile, FindsTensorsAmongOtherValues) {
  const TorchFile file{tests::golden_weights() / "nested.pth"};
  const auto root = file.root();
  EXPECT_EQ(tests::elements(root.at("model").at("weight").tensor()), (std::vector<double>{1, 1}));
  EXPECT_FALSE(root.at("step").is_tensor());
  EXPECT_FALSE(root.find("absent"));
}

TEST(TorchFile, AnAccessThatDoesNotFitNamesThePlace) {
  const TorchFile file{tests::golden_weights() / "nested.pth"};
  const auto root = file.root();
  const auto says = [&](auto access, const char* message) {
    const auto text = tests::refusal(access);
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  says([&] { (void)root.at("model").at("bias"); }, "nested.pth: model.bias: missing");
  says([&] { (void)root.tensors(); }, "nested.pth: model: expected a tensor");
  says([&] { (void)root.at("step").tensors(); }, "step: expected a dict");
}

TEST(TorchFile, TheOldFormatHearsHowToConvert) {
  const auto text = tests::refusal([] { TorchFile{tests::golden_weights() / "old.pth"}; });
  EXPECT_NE(text.find("old format"), std::string::npos) << text;
  EXPECT_NE(text.find("python -c"), std::string::npos) << text;
}

void read_all(const std::string& bytes) {
  const TorchFile file{tests::bytes_of(bytes), "damaged.pth"};
  for (const auto& tensor : file.root().tensors()) tests::elements(tensor);
}

TEST(TorchFile, NoDamageIsDangerous) {
  for (const auto* name : {"module.pth", "views.pth", "views_protocol4.pth"}) {
    const auto text = tests::read_file(tests::golden_weights() / name);
    read_all(text);
    tests::expect_no_prefix_is_read(text, read_all);
    tests::survive_flipped_bits(text, 1000, read_all);
  }
}

}  // namespace
}  // namespace seqtrain::weights
