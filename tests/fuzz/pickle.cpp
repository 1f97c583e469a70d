#include <array>
#include <string_view>
#include <variant>

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
  }
  void operator()(const Pickle::Persistent& persistent) const { valid(persistent.id); }
  void operator()(const auto&) const {}
};

}  // namespace

void seqtrain::fuzz::run(Input input) {
  constexpr std::array<std::string_view, 2> globals{"collections.OrderedDict", "a.b"};
  accepts([&] {
    const auto pickle = weights::parse_pickle(input.bytes(), "fuzz", globals);
    const CheckReferences check{pickle};
    check.valid(pickle.root);
    for (const auto& value : pickle.values) std::visit(check, value);
  });
}
