#pragma once

#include <optional>
#include <utility>

#include <seqtrain/model/families.hpp>
#include <seqtrain/model/load_any_network.hpp>
#include <seqtrain/model/load_network.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

[[nodiscard]] SEQTRAIN_SEPARATE LoadedNetwork
load_any_network(const weights::WeightsFolder& checkpoint, const ClassifierOptions& options) {
  const weights::ConfigFile config{checkpoint.config_file()};
  std::optional<LoadedNetwork> loaded;
  Architectures::visit(config, [&]<class Family>() {
    loaded.emplace(load_network<Family>(checkpoint, config, options));
  });
  return *std::move(loaded);
}

}  // namespace seqtrain::model
