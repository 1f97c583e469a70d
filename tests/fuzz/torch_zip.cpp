#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/weights/torch_file.hpp>

#include "fuzz.hpp"

namespace {

using seqtrain::weights::TorchValue;

/// Visits all values at most `depth` levels below; a value may contain itself.
void visit(const TorchValue& value, int depth) {
  if (depth == 0) return;
  if (value.is_tensor()) {
    const auto tensor = value.tensor();
    if (is_floating(tensor.dtype)) to_floats(tensor);
    return;
  }
  std::vector<std::pair<std::string_view, TorchValue>> members;
  try {
    members = value.members();
  } catch (const seqtrain::InputError&) {  // not a dict
  }
  for (const auto& [key, member] : members) visit(member, depth - 1);
}

}  // namespace

/// A file that is accepted must be readable to its last byte.
void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    const weights::TorchFile file{input.bytes(), "fuzz"};
    visit(file.root(), 3);
  });
}
