#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Device.h>

#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/saved_model.hpp>
#include <seqtrain/baseline/term_tokenizer.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/load_awd_lstm.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_any_network.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/one_output.hpp>
#include <seqtrain/model/windowed_backend.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/text/loading/class_parts.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/text/subword_tokenizer.hpp>
#include <seqtrain/text/windows.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/model_class.hpp>
#include <seqtrain/weights/weights_folder.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::model {

namespace detail {

/// Returns the model's folder in a run's directory, or the directory itself if it is a model's.
inline std::filesystem::path model_folder(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory / "config.json")) return directory;
  if (weights::is_adapter(directory)) return directory;
  const auto model = directory / "model";
  return std::filesystem::exists(model / "config.json") ? model : directory;
}

/// Returns how a model reads texts and pools hidden states if modules.json says it, which an
/// encoder without one does by the mean if it embeds texts.
inline std::optional<weights::SentenceForm> sentence_form(const std::filesystem::path& folder,
                                                          const PredictorOptions& options) {
  if (!options.embedding) return weights::read_sentence_classifier(folder);
  return weights::read_sentence_form(weights::sentence_folder(folder, options.base));
}

/// Loads the tokenizer of a model's folder or, if an adapter has none, of its base. It reads texts
/// as `form`, if there is one, says.
inline predict::TextEncoder load_text_encoder(const std::filesystem::path& folder,
                                              const std::filesystem::path& base,
                                              const std::optional<weights::SentenceForm>& form) {
  const bool has_none = weights::is_adapter(folder) && text::tokenizer_files(folder).empty();
  const auto path = folder / "subwords.model";
  if (!has_none && std::filesystem::exists(path)) {
    return predict::TextEncoder{text::load_subwords(path)};
  }
  auto tokenizer = text::load_tokenizer(has_none ? weights::base_of(folder, base) : folder);
  if (form) {
    tokenizer.set_change({.prompt = form->prompt, .lowercases = form->lowercases});
    if (form->max_length > 0 && !tokenizer.windows()) {
      tokenizer.set_long_texts(tokenizer.long_texts(), form->max_length);
    }
  }
  return predict::TextEncoder{tokenizer};
}

/// A simple model, which its tokenizer shares.
using Baseline = std::shared_ptr<const baseline::Model>;
using TrainedModel = std::variant<AnyClassifier, AwdLstmClassifier, Baseline>;

[[noreturn]] inline void refuse_embeddings(const std::filesystem::path& folder,
                                           const std::string& kind) {
  throw InputError{"is " + kind + ", which has no embeddings of texts",
                   {.object = folder.string()},
                   "use an encoder, such as one of sentence-transformers"};
}

/// Returns the pooling of a sentence encoder.
[[nodiscard]] inline Pooling pooling_of(const weights::SentenceForm& form) {
  if (form.mean_pooling) return Pooling::mean;
  return form.last_pooling ? Pooling::last_token : Pooling::first_token;
}

inline TrainedModel load_trained(const std::filesystem::path& folder,
                                 const predict::TextEncoder& tokenizer,
                                 const std::optional<weights::SentenceForm>& form,
                                 const PredictorOptions& options) {
  if (!std::filesystem::exists(folder / "config.json") && !weights::is_adapter(folder) &&
      std::filesystem::exists(folder / AwdLstmDescription::load(folder).model)) {
    if (options.embedding) refuse_embeddings(folder, "a result of languages");
    auto model = load_awd_lstm(folder, tokenizer.pad_id(), options.device, options.precision);
    check_vocabulary({.vocab_size = model.vocab_size()}, tokenizer.vocab_size(),
                     (folder / AwdLstmDescription::load(folder).model).string());
    return model;
  }
  ClassifierOptions made;  // GCC 12 warns of a temporary object
  made.tokenizer_size = tokenizer.vocab_size();
  made.device = options.device;
  made.precision = options.precision;
  made.only_predicts = true;
  if (options.embedding) {
    made.head = no_head(pooling_of(*form));
    return load_classifier(folder, made, options.base);
  }
  made.windows = tokenizer.windows();
  if (options.needs_head) weights::refuse_other_heads(folder);
  auto model = load_classifier(folder, made, options.base);
  if (options.needs_head) check_trained(model.load_report(), folder);
  return model;
}

/// Returns the logits of a simple model for texts with these ids.
inline metrics::Logits simple_logits(const baseline::Model& model,
                                     std::span<const predict::Encoded> texts) {
  metrics::Logits logits{static_cast<Eigen::Index>(texts.size()),
                         static_cast<Eigen::Index>(model.labels())};
  auto scratch = model.scratch();
  for (std::size_t row = 0; row < texts.size(); ++row) {
    model.answer_ids(texts[row].input_ids, scratch,
                     {logits.row(static_cast<Eigen::Index>(row)).data(), model.labels()});
  }
  return logits;
}

}  // namespace detail

struct AnyPredictor::State {
  std::filesystem::path folder;
  detail::TrainedModel model;
  std::mutex mutex = {};
};

SEQTRAIN_SEPARATE AnyPredictor::AnyPredictor(const std::filesystem::path& directory,
                                             const PredictorOptions& options) {
  const auto folder = detail::model_folder(directory);
  if (baseline::is_saved_model(folder)) {
    if (options.embedding) detail::refuse_embeddings(folder, "a simple model");
    load_baseline(folder);
    return;
  }
  const auto form = detail::sentence_form(folder, options);
  encode_ =
      std::make_shared<predict::TextEncoder>(detail::load_text_encoder(folder, options.base, form));
  allowed_length_ = encode_->max_length();
  state_.reset(new State{folder, detail::load_trained(folder, *encode_, form, options)});
  if (const auto* encoder = std::get_if<AnyClassifier>(&state_->model)) {
    describe(*encoder, options.device);
    has_head_ = encoder->load_report().fresh.empty();
    if (options.embedding) {
      embed(folder, *form, encoder->config(), options);
    } else {
      classify(folder, encoder->config(), options.base);
    }
  } else {
    const auto& model = std::get<AwdLstmClassifier>(state_->model);
    const auto description = AwdLstmDescription::load(folder);
    const auto& made = model.options();
    precision_ = made.backend.by_hand(options.device, made.shape.qrnn).value_or(Precision::fp32);
    task_ = {.labels = model.options().labels, .problem_type = model.problem_type()};
    max_length_ = static_cast<std::size_t>(description.max_length);
    backwards_ = description.backwards;
    calibrate(folder / "description.json");
  }
}

SEQTRAIN_SEPARATE AnyPredictor AnyPredictor::with_adapter(const std::filesystem::path& directory) {
  const auto folder = detail::model_folder(directory);
  const std::filesystem::path& base = state_->folder;
  auto* const model = std::get_if<AnyClassifier>(&state_->model);
  if (model == nullptr || !weights::is_adapter(folder)) {
    throw InputError{"is no adapter, or not of an encoder", {.object = directory.string()}};
  }
  const bool has_own = !text::tokenizer_files(folder).empty();
  const text::TokenizerFolder own{folder};
  const bool other = has_own && text::detail::long_texts_of(own) != encode_->long_texts();
  if (other || encode_->windows()) {
    throw InputError{"reads long texts differently from its base, or in windows",
                     {.object = directory.string()},
                     "serve it alone by --model"};
  }
  AnyPredictor result = *this;
  if (has_own) result.allowed_length_ = text::detail::max_length_of(own);
  const weights::WeightsFolder checkpoint{folder, base};
  auto loaded = while_unchanged(checkpoint, [&] {
    auto network = load_any_network(
        checkpoint,
        {.tokenizer_size = encode_->vocab_size(), .only_predicts = true, .only_adapter = true});
    network.borrowed.own();
    return network;
  });
  check_trained(loaded.report, folder);
  result.has_head_ = true;
  result.classify(folder, loaded.config, base);
  if (model->add_adapter(std::move(loaded))) {
    result.adapter_ = model->adapters();
    return result;
  }
  throw InputError{"the backend of this model does not compute several adapters",
                   {.object = directory.string()},
                   "serve it alone by --model, or, on a processor, with --precision bf16 or int8 "
                   "and an encoder that is no DeBERTa"};
}

SEQTRAIN_SEPARATE void AnyPredictor::load_baseline(const std::filesystem::path& folder) {
  auto [model, labels] = baseline::load(folder);
  task_ = {.labels = std::move(labels), .problem_type = model.problem_type()};
  max_length_ = allowed_length_ = std::numeric_limits<std::int32_t>::max();
  const auto shared = std::make_shared<const baseline::Model>(std::move(model));
  encode_ = std::make_shared<predict::TextEncoder>(baseline::TermTokenizer{shared});
  state_.reset(new State{folder, shared});
  calibrate(folder / "config.json");
}

/// Takes labels and task from the configuration in a folder or, if that has none, of its base.
SEQTRAIN_SEPARATE void AnyPredictor::classify(const std::filesystem::path& folder,
                                              const weights::ModelConfig& config,
                                              const std::filesystem::path& base) {
  task_ = {.labels = config.labels, .problem_type = config.problem()};
  const bool has_config = std::filesystem::exists(folder / "config.json");
  if (labels().size() == 1) {
    task_.one_output = one_output_of(has_config ? folder : weights::base_of(folder, base));
  }
  calibrate(folder / "config.json");
}

/// Takes the options of embeddings.
SEQTRAIN_SEPARATE void AnyPredictor::embed(const std::filesystem::path& folder,
                                           const weights::SentenceForm& form,
                                           const weights::ModelConfig& config,
                                           const PredictorOptions& options) {
  const auto place = weights::sentence_folder(folder, options.base);
  const auto modules = (place / "modules.json").string();
  if (config.is_causal && !form.mean_pooling && !form.last_pooling) {
    throw InputError{"takes the first token, which sees no other token in a decoder",
                     {.object = modules},
                     "use a Pooling by the mean or lasttoken"};
  }
  described_ = "Embeddings: " + weights::describe(form) +
               (std::filesystem::exists(modules) ? ", as " + modules + " says"
                                                 : ", because there is no " + modules);
  embedding_ = *options.embedding;
  const auto whole = static_cast<std::size_t>(config.hidden_size);
  task_ = {.pooling = weights::pooling_name(form),
           .embedding_size = embedding_.size == 0 ? whole : embedding_.size};
  normalizes_ = form.normalizes;
  if (embedding_.size <= whole) return;
  throw InputError{"its embeddings have " + std::to_string(whole) + " numbers, fewer than " +
                       std::to_string(embedding_.size),
                   {.object = folder.string()},
                   "cut them to a smaller size"};
}

SEQTRAIN_SEPARATE void AnyPredictor::describe(const AnyClassifier& model, c10::Device device) {
  precision_ = model.precision();
  maps_in_bf16_ = model.maps_in_bf16();
  max_length_ = static_cast<std::size_t>(model.longest_row());
  windows_ = model.windows();
  // The bits of torch's operators depend on the number of rows, so each text is predicted alone.
  by_itself_ = device.is_cpu() && !model.has_kernels();
}

/// Takes the temperature or the thresholds in a file, if it exists and has them.
SEQTRAIN_SEPARATE void AnyPredictor::calibrate(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  const auto document = json::Document::load(file);
  const auto found = weights::calibration_in(document.root(), labels().size());
  if (!found) return;
  task_.temperature = found->temperature;
  task_.thresholds = found->thresholds;
}

SEQTRAIN_SEPARATE metrics::Logits AnyPredictor::predict(
    std::span<const Encoded> texts, std::vector<text::DecidingWindow>* deciding) const {
  const std::lock_guard lock{state_->mutex};
  if (!by_itself_ && !texts.empty()) return logits(texts, deciding);
  metrics::Logits all{static_cast<Eigen::Index>(texts.size()),
                      static_cast<Eigen::Index>(labels().size())};
  std::vector<text::DecidingWindow> of_all, of_text;
  for (Eigen::Index row = 0; row < all.rows(); ++row) {
    const auto one = logits(texts.subspan(static_cast<std::size_t>(row), 1), &of_text);
    if (row == 0) all.resize(all.rows(), one.cols());
    all.row(row) = one;
    of_all.insert(of_all.end(), of_text.begin(), of_text.end());
  }
  if (deciding != nullptr) *deciding = std::move(of_all);
  return all;
}

SEQTRAIN_SEPARATE predict::Pooled AnyPredictor::pooled(const metrics::Logits& windows) const {
  const at::NoGradGuard no_gradients;
  const at::Tensor rows = at::from_blob(const_cast<float*>(windows.data()),  // is only read
                                        {windows.rows(), windows.cols()}, at::kFloat);
  const at::Tensor text = pool_windows(rows, windows_->pooling);
  const auto* const first = text.const_data_ptr<float>();
  predict::Pooled result{.logits = {first, first + text.numel()}};
  if (problem_type() != ProblemType::regression) result.deciding = deciding_window(rows, text);
  return result;
}

/// Returns the embeddings of texts, given their pooled hidden states, which it changes.
SEQTRAIN_SEPARATE metrics::Logits AnyPredictor::embeddings(metrics::Logits& states) const {
  const auto width = static_cast<std::size_t>(states.cols());
  metrics::Logits result{states.rows(), embedding_.size == 0 ? width : embedding_.size};
  for (Eigen::Index row = 0; row < states.rows(); ++row) {
    const std::span whole{states.row(row).data(), width};
    if (normalizes_) predict::normalize(whole);
    std::ranges::copy(predict::finished(whole, embedding_), result.row(row).data());
  }
  return result;
}

SEQTRAIN_SEPARATE metrics::Logits AnyPredictor::logits(
    std::span<const Encoded> texts, std::vector<text::DecidingWindow>* deciding) const {
  if (const auto* const simple = std::get_if<detail::Baseline>(&state_->model)) {
    return detail::simple_logits(**simple, texts);
  }
  const data::Batch batch = predict::to_batch(texts, encode_->pad_id());
  if (auto* const model = std::get_if<AnyClassifier>(&state_->model)) {
    auto rows = model->logits(batch, deciding);
    return task_.embeds() ? embeddings(rows) : rows;
  }
  return std::get<AwdLstmClassifier>(state_->model).logits(batch);
}

}  // namespace seqtrain::model
