#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>

/// The sizes and the dropout rates of a language model that fastai has trained, and the rates of a
/// classifier on its encoder.
struct PublishedModel {
  seqtrain::model::AwdLstmShape shape = {};
  seqtrain::model::AwdLstmDropout dropout = {};
  seqtrain::model::AwdLstmDropout classifier = seqtrain::model::AwdLstmDropout::classifier();
};

/// Reads `model.json`, which is fastai's `config.json`; without it, returns `fresh`. Unless the
/// configuration says `"qrnn": false`, the model has quasi-recurrent layers.
[[nodiscard]] inline PublishedModel read_published_model(
    const std::filesystem::path& data, const seqtrain::model::AwdLstmShape& fresh) {
  const auto file = data / "model.json";
  PublishedModel model{.shape = fresh};
  if (!std::filesystem::exists(file)) return model;
  const auto document = seqtrain::json::Document::load(file);
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
  return model;
}
