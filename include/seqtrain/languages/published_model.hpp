#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/languages/published.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/model/awd_lstm/load_awd_lstm.hpp>
#include <seqtrain/weights/fastai.hpp>

namespace seqtrain::languages {

/// The sizes and the dropout rates of a language model that fastai has trained, and the rates of a
/// classifier on its encoder.
struct PublishedModel {
  model::AwdLstmShape shape = {};
  model::AwdLstmDropout dropout = {};
  model::AwdLstmDropout classifier = model::AwdLstmDropout::classifier();
};

/// Throws `InputError` if the configuration has another kind of layers or another size than the
/// weights, before any memory is taken for a model of that size.
inline void check_sizes(const json::Value& config, const model::AwdLstmShape& shape,
                        const std::filesystem::path& weights) {
  const auto file = linked_file(weights);
  const auto stored = model::awd_lstm_shape(weights::FastaiFile{file}, "0.");
  const auto check = [&](const char* name, std::int64_t size, std::int64_t stored_size) {
    if (size == stored_size) return;
    const std::string in = " in " + file.filename().string();
    if (const auto found = config.find(name)) {
      throw found->error("is " + std::to_string(size) + ", but the weights" + in + " have " +
                         std::to_string(stored_size));
    }
    throw config.error(std::string{"has no "} + name + "; the weights" + in + " have " +
                       std::to_string(stored_size));
  };
  if (shape.qrnn != stored.qrnn) {
    throw config.find("qrnn").value_or(config).error(
        std::string{"the weights in "} + file.filename().string() + " are those of " +
        (stored.qrnn ? "quasi-recurrent layers"
                     : "an LSTM, for which the configuration says \"qrnn\": false"));
  }
  check("emb_sz", shape.embedding, stored.embedding);
  check("n_layers", shape.layers, stored.layers);
  if (shape.layers > 1) check("n_hid", shape.hidden, stored.hidden);
}

/// Reads `model.json`, which is fastai's `config.json`; without it, returns `fresh`. Unless the
/// configuration says `"qrnn": false`, the model has quasi-recurrent layers. Throws `InputError` if
/// the sizes are not those of the weights beside it.
[[nodiscard]] inline PublishedModel read_published_model(const std::filesystem::path& data,
                                                         const model::AwdLstmShape& fresh) {
  const auto file = data / "model.json";
  PublishedModel model{.shape = fresh};
  if (!std::filesystem::exists(file)) return model;
  const auto document = json::Document::load(linked_file(file));
  const auto root = document.root();
  const auto size = [&root](const char* name, std::int64_t& target) {
    if (const auto found = root.find(name)) target = found->integer();
  };
  const auto rate = [&root](const char* name, double& target) {
    const auto found = root.find(name);
    if (!found) return;
    target = found->number();
    if (!(target >= 0 && target < 1)) throw found->error("must be at least 0 and below 1");
  };
  size("emb_sz", model.shape.embedding);
  size("n_hid", model.shape.hidden);
  size("n_layers", model.shape.layers);
  rate("embed_p", model.dropout.embedding);
  rate("input_p", model.dropout.input);
  rate("weight_p", model.dropout.weight);
  rate("hidden_p", model.dropout.hidden);
  rate("output_p", model.dropout.output);
  model.classifier = model.dropout;
  const auto qrnn = root.find("qrnn");
  model.shape.qrnn = !qrnn || qrnn->boolean();
  if (const auto both = root.find("bidir"); both && both->boolean()) {
    throw both->error("a language model that reads in both directions is not supported");
  }
  const auto weights = data / "pretrained.pth";
  if (std::filesystem::exists(weights)) check_sizes(root, model.shape, weights);
  model.shape.validate();
  return model;
}

}  // namespace seqtrain::languages
