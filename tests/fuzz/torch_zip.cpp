#include <seqtrain/weights/torch_file.hpp>

#include "fuzz.hpp"

namespace {

using seqtrain::weights::TorchValue;

/// Looks at all that lies at most `depth` below; a value may hold itself.
void visit(const TorchValue& value, int depth) {
  if (depth == 0) return;
  if (value.is_tensor()) {
    const auto tensor = value.tensor();
    if (is_floating(tensor.dtype)) to_floats(tensor);
  } else if (value.is_dict()) {
    for (const auto& [key, member] : value.members()) visit(member, depth - 1);
  }
}

}  // namespace

/// Whatever is accepted can be read to its last byte.
void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    const weights::TorchFile file{input.bytes(), "fuzz"};
    visit(file.root(), 3);
  });
}
