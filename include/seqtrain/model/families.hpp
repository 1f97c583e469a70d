#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/model/architecture.hpp>
#include <seqtrain/model/families/albert/albert.hpp>
#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/deberta_v2/deberta_v2.hpp>
#include <seqtrain/model/families/distilbert/distilbert.hpp>
#include <seqtrain/model/families/electra/electra.hpp>
#include <seqtrain/model/families/modernbert/modernbert.hpp>
#include <seqtrain/model/families/mpnet/mpnet.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// A list of families.
template <class... Families>
struct ArchitectureList {
  static_assert((is_architecture<Families>() && ...));

  /// Calls `use.operator()<Family>()` of the family that a config.json names. Throws `InputError`
  /// with the families that there are if it is none of them.
  template <class Use>
  static void visit(const weights::ConfigFile& file, const Use& use) {
    const std::string name = file.model_type();
    const bool found =
        ((name == Families::model_type && (use.template operator()<Families>(), true)) || ...);
    if (found) return;
    const std::vector<std::string_view> supported{Families::model_type...};
    throw file.root()
        .at("model_type")
        .error("'" + name + "' is not supported", "supported are " + joined(supported));
  }
};

/// The families that `load_classifier` knows.
using Architectures = ArchitectureList<Bert, Roberta, DistilBert, XlmRoberta, Camembert, Electra,
                                       Mpnet, Albert, ModernBert, DebertaV2>;

}  // namespace seqtrain::model
