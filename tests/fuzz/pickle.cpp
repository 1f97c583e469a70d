#include <array>
#include <string_view>
#include <variant>

#include <seqtrain/weights/numpy_array.hpp>
#include <seqtrain/weights/pickle.hpp>
#include <seqtrain/weights/unpickle.hpp>

#include "fuzz.hpp"

namespace {

using seqtrain::weights::Pickle;

/// Every reference must lead to a value, whatever the program.
struct CheckReferences {
  const Pickle& pickle;

  void valid(Pickle::Ref ref) const { seqtrain::fuzz::require(ref < pickle.values.size()); }

  void operator()(const Pickle::Tuple& tuple) const {
    for (const auto item : tuple.items) valid(item);
  }
  void operator()(const Pickle::List& list) const {
    for (const auto item : list.items) valid(item);
  }
  void operator()(const Pickle::Dict& dict) const {
    for (const auto& [key, value] : dict.members) valid(key), valid(value);
  }
  void operator()(const Pickle::Call& call) const {
    seqtrain::fuzz::require(pickle.get_if<Pickle::Global>(call.function) != nullptr);
    seqtrain::fuzz::require(pickle.get_if<Pickle::Tuple>(call.arguments) != nullptr);
    if (call.state) valid(*call.state);
    if (call.contents) valid(*call.contents);
  }
  void operator()(const Pickle::Persistent& persistent) const { valid(persistent.id); }
  void operator()(const auto&) const {}
};

}  // namespace

void seqtrain::fuzz::run(Input input) {
  constexpr std::array<std::string_view, 6> globals{"collections.OrderedDict",
                                                    "a.b",
                                                    "joblib.numpy_pickle.NumpyArrayWrapper",
                                                    "numpy._core.multiarray._reconstruct",
                                                    "numpy._core.numeric._frombuffer",
                                                    "numpy.dtype"};
  accepts([&] {
    const auto pickle = weights::parse_pickle(input.bytes(), "fuzz", globals);
    const CheckReferences check{pickle};
    check.valid(pickle.root);
    for (Pickle::Ref ref = 0; ref < pickle.values.size(); ++ref) {
      std::visit(check, pickle.values[ref]);
      if (const auto array = weights::numpy_array(pickle, ref)) static_cast<void>(array->numbers());
    }
  });
}
