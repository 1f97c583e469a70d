#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/load_report.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/initial_weights.hpp>
#include <seqtrain/tensor/borrowed_memory.hpp>
#include <seqtrain/tensor/finite.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/peft_names.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/weights_folder.hpp>

namespace seqtrain::model {

/// Options for the parameters of one part of a model.
struct Part {
  bool required = false;  ///< the checkpoint must have it
  bool frozen = false;    ///< it gets no gradients
  bool late = false;      ///< see `tensor::Parameter::late`
  /// The weights of linear layers are [in, out] in the state_dict, as in transformers' Conv1D.
  bool transposed = false;
  Depth depth = {};
  InitialWeights initial = {};
  const weights::LoRA* lora = nullptr;  ///< adapters of its linear layers; null if there are none
};

/// The adapter of a linear layer, which adds scale · x Aᵀ Bᵀ.
struct LowRank {
  /// [rank, in] and [out, rank]; undefined if the linear layer has none.
  at::Tensor a = {}, b = {};
  double scale = 0;
  /// The linear layer belongs to a part of which some linear layers have adapters.
  bool in_adapted = false;
  double dropout = 0;  ///< rate for x
  /// The dropout of the current pass by operators, for all adapters of a network.
  std::shared_ptr<Dropout> pass = {};
};

/// Makes a model's parameters in the order of its state_dict. A parameter comes from the checkpoint
/// if that has it, else from a random stream of its own.
class ParameterMaker {
 public:
  /// Options of `ParameterMaker`: the sources of values, and where parameters live.
  struct Options {
    std::string_view prefix;  ///< first word of the encoder's names, which a checkpoint may lack
    std::uint64_t seed;
    c10::Device device;
    /// True if the encoder gets no weights, but the checkpoint's adapter apart from them.
    bool only_adapter = false;
    /// True if parameters may lie in the checkpoint's files until `borrowed().own()` is called.
    bool borrows = false;
    /// True if parameters that have other sizes in the checkpoint are initialised.
    bool ignores_sizes = false;
    /// The advice about a parameter of another size in the checkpoint.
    std::string_view advice_on_sizes = {};
    /// True if the network has no head, so that one in the checkpoint's adapter has no place.
    bool has_no_head = false;
    /// The names of linear layers in PEFT's adapters, where they are not those of the files.
    std::span<const weights::PeftName> peft_names = {};
    /// This layer and those after it are initialised.
    std::int64_t first_fresh_layer = std::numeric_limits<std::int64_t>::max();
  };

  ParameterMaker(const weights::WeightsFolder& checkpoint, Options options)
      : checkpoint_{&checkpoint}, options_{options} {}

  /// Throws `InputError` if a required tensor is missing, has another shape, is not floating-point
  /// or holds NaN.
  at::Tensor make(const std::string& name, at::IntArrayRef shape, Role role, Part part) {
    auto stored = find(name);
    if (!stored && part.required) fail_missing(name);
    if (options_.only_adapter && part.required) return place_of(*stored, name, shape);
    if (!stored) report_.fresh.push_back(name);
    if (stored && options_.ignores_sizes && at::IntArrayRef{stored->shape} != shape) {
      report_.resized.push_back(name);
      stored.reset();
    }
    if (part.depth.part == Depth::Part::layer && part.depth.layer >= options_.first_fresh_layer) {
      report_.begun_anew.push_back(name);
      stored.reset();
    }
    at::Tensor value =
        stored ? load(*stored, shape) : initial_values(shape, role, part.initial, generator());
    if (checkpoint_->adapter() != nullptr) value = with_adapter(value, name, part.transposed);
    value = value.to(options_.device);
    if (part.frozen && part.lora != nullptr) return value;  // only what learns is listed
    parameters_.push_back({.name = name,
                           .value = value,
                           .gradient = part.frozen ? at::Tensor{} : tensor::require_gradient(value),
                           .role = role,
                           .depth = part.depth,
                           .late = part.late});
    return value;
  }

  /// Makes a tensor that never learns: the checkpoint's or, if that has none, `value`. Throws as
  /// `make` does.
  at::Tensor make_constant(const std::string& name, const at::Tensor& value, const Part& part) {
    const auto stored = find(name);
    at::Tensor result = stored ? load(*stored, value.sizes()) : value;
    if (checkpoint_->adapter() != nullptr) result = with_adapter(result, name, part.transposed);
    result = result.to(options_.device);
    if (options_.only_adapter || part.lora != nullptr) return result;  // only what learns is listed
    parameters_.push_back(
        {.name = name, .value = result, .gradient = {}, .role = Role::weight, .depth = part.depth});
    return result;
  }

  /// Adds a parameter or a buffer that a head of the program's own has made. It learns if it
  /// requires gradients. It gets the checkpoint's numbers if that has them. Throws as `make` does.
  void adopt(const std::string& name, const at::Tensor& value) {
    if (const auto stored = find(name); stored && value.is_floating_point()) {
      const at::NoGradGuard no_gradients;
      value.copy_(load(*stored, value.sizes()));
    } else if (stored) {
      tensor::SavedTensors{{&*stored, 1}}.take(stored->name, value);
    } else {
      report_.fresh.push_back(name);
    }
    parameters_.push_back(
        {.name = name,
         .value = value,
         .gradient = value.requires_grad() ? tensor::require_gradient(value) : at::Tensor{},
         .role = value.dim() > 1 ? Role::weight : Role::bias,
         .depth = {Depth::Part::head}});
  }

  /// Makes the adapter of the linear layer `name`, if `part.lora` adapts it: A is uniform as PEFT
  /// begins it, and B is 0. Throws `InputError` if the rank is above the linear layer's sizes.
  LowRank make_low_rank(const std::string& name, std::int64_t in, std::int64_t out,
                        const Part& part) {
    const weights::LoRA& lora = *part.lora;
    if (first_map_.empty()) first_map_ = name;
    if (const auto* const adapter = checkpoint_->adapter()) {
      const LowRank stored = stored_low_rank(name, {out, in});
      if (!stored.a.defined() || stored.a.size(0) <= std::min(in, out)) return stored;
      adapter->fail(name + std::string{weights::factor_a}, "has a rank above the layer's sizes",
                    "serve this adapter alone, by --model");
    }
    LowRank low{.scale = lora.scale(),
                .in_adapted = true,
                .dropout = lora.dropout,
                .pass = adapter_dropout_};
    const auto means_it = [&](std::string_view target) { return lora.fits(target, name); };
    if (std::ranges::none_of(lora.targets, means_it)) return low;
    if (lora.rank > std::min(in, out)) {
      throw InputError{std::to_string(lora.rank) + " is above the sizes of " + name + ", " +
                           std::to_string(in) + " inputs and " + std::to_string(out) + " outputs",
                       {.object = "lora", .field = "rank"}};
    }
    adapted_.push_back(name);
    adapts_transposed_ = adapts_transposed_ || part.transposed;
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    low.a = at::empty({lora.rank, in}, at::kFloat).uniform_(-bound, bound, generator());
    low.a = low.a.to(options_.device);
    low.b = at::zeros({out, lora.rank}, low.a.options());
    for (const auto& [value, end] :
         {std::pair{low.a, weights::factor_a}, {low.b, weights::factor_b}}) {
      parameters_.push_back({.name = name + std::string{end},
                             .value = value,
                             .gradient = tensor::require_gradient(value),
                             .role = Role::weight,
                             .depth = part.depth});
    }
    return low;
  }

  /// Returns the names of the linear layers that got an adapter. Throws `InputError` if a target
  /// fits none.
  [[nodiscard]] const std::vector<std::string>& adapted(const weights::LoRA& lora) const {
    for (const std::string& target : lora.targets) {
      const auto fits = [&](std::string_view name) { return weights::LoRA::fits(target, name); };
      if (std::ranges::any_of(adapted_, fits)) continue;
      throw InputError{"'" + target + "' fits no linear layer of the encoder",
                       {.object = "lora", .field = "targets"},
                       "a map's name is " + first_map_};
    }
    return adapted_;
  }

  /// Tells whether a linear layer that got an adapter has a weight [in, out].
  [[nodiscard]] bool adapts_transposed() const { return adapts_transposed_; }

  /// Returns the dropout of the operators that all adapters share.
  [[nodiscard]] const std::shared_ptr<Dropout>& adapter_dropout() const { return adapter_dropout_; }

  [[nodiscard]] const std::vector<tensor::Parameter>& parameters() const { return parameters_; }

  [[nodiscard]] const tensor::BorrowedMemory& borrowed() const { return borrowed_; }

  /// Throws `InputError` if the checkpoint's adapter has a tensor that no parameter took.
  [[nodiscard]] LoadReport report() const {
    LoadReport result = report_;
    result.file = checkpoint_->where("").object;
    result.wrapper = wrapper_.value_or("");
    for (auto& name : checkpoint_->names()) {
      if (used_.contains(name) || is_no_weight(name)) continue;
      result.left_out.push_back(std::move(name));
    }
    const auto* const adapter = checkpoint_->adapter();
    if (adapter == nullptr) return result;
    for (const auto& [name, tensor] : adapter->tensors()) {
      if (used_.contains(name) || (options_.has_no_head && is_of_head(name))) continue;
      adapter->fail(name, "has no place in the model", other_base);
    }
    return result;
  }

 private:
  /// Tells whether a tensor is what old versions of transformers saved beside weights: the numbers
  /// 0, 1, 2, …, GPT-2's causal masks, or the angles of each of ESM's layers.
  static bool is_no_weight(std::string_view name) {
    return name.ends_with("position_ids") || name.ends_with(".attn.bias") ||
           name.ends_with(".attn.masked_bias") || name.ends_with("rotary_embeddings.inv_freq");
  }

  /// Tells whether a tensor that no encoder has may be a head's: whole tensors are, and factors of
  /// BERT's pooler, to which PEFT's `all-linear` gives an adapter.
  static bool is_of_head(std::string_view name) {
    const bool is_factor = name.ends_with(weights::factor_a) || name.ends_with(weights::factor_b);
    return !is_factor || name.find("pooler.") != name.npos;
  }

  /// Returns the names that a parameter has in checkpoints: with and without the family's prefix,
  /// for layer normalizations also the names in the first BERT files, for the table of words that
  /// BART's encoder and decoder share also theirs, for GTE the prefix of its own code, and for
  /// ESM's angles those of the first layer and the one that transformers 5 writes for all layers.
  [[nodiscard]] std::vector<std::string> aliases(const std::string& name) const {
    std::vector<std::string> names{name};
    const std::string prefix = std::string{options_.prefix} + ".";
    if (name.starts_with(prefix)) {
      names.push_back(name.substr(prefix.size()));
      if (prefix == "gte.") names.push_back("new." + names.back());
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> other_endings{
        {{"rotary_embeddings.inv_freq",
          "encoder.layer.0.attention.self.rotary_embeddings.inv_freq"},
         {"rotary_embeddings.inv_freq",
          "encoder.layer.*.attention.self.rotary_embeddings.inv_freq"},
         {"LayerNorm.weight", "LayerNorm.gamma"},
         {"LayerNorm.bias", "LayerNorm.beta"},
         {"shared.weight", "encoder.embed_tokens.weight"},
         {"shared.weight", "decoder.embed_tokens.weight"}}};
    for (std::size_t i = 0, count = names.size(); i < count; ++i) {
      for (const auto& [ending, other] : other_endings) {
        if (!names[i].ends_with(ending)) continue;
        names.push_back(names[i].substr(0, names[i].size() - ending.size()) + std::string{other});
      }
    }
    return names;
  }

  std::optional<weights::TensorView> find(const std::string& name) {
    const auto all = aliases(name);
    if (!wrapper_) wrapper_ = wrapper_of(all);
    const auto* const adapter = checkpoint_->adapter();
    for (const auto& alias : all) {
      const bool adapted = adapter != nullptr && adapter->find(alias);
      const std::string stored_name = adapted ? alias : *wrapper_ + alias;
      if (auto stored = checkpoint_->find(stored_name)) {
        used_.insert(stored_name);
        for (const auto& other : all) used_.insert(*wrapper_ + other);
        return stored;
      }
    }
    return {};
  }

  /// Returns what DistributedDataParallel, torch.compile or a Lightning module have put before all
  /// names of the checkpoint, or "" if the names fit as they are. `first` are the names that the
  /// encoder's first parameter may have.
  [[nodiscard]] std::string wrapper_of(const std::vector<std::string>& first) const {
    constexpr std::array<std::string_view, 3> words{"module.", "_orig_mod.", "model."};
    const auto names = checkpoint_->names();
    for (std::string wrapper;;) {
      const auto has = [&](const auto& alias) {
        return checkpoint_->find(wrapper + alias).has_value();
      };
      if (std::ranges::any_of(first, has)) return wrapper;
      const auto is_before_all = [&](std::string_view word) {
        const std::string longer = wrapper + std::string{word};
        return std::ranges::all_of(names,
                                   [&](const auto& name) { return name.starts_with(longer); });
      };
      const auto word = std::ranges::find_if(words, is_before_all);
      if (word == words.end() || names.empty()) return {};
      wrapper += *word;
    }
  }

  /// Throws an error about a tensor that the checkpoint lacks, by the name that it would have
  /// there.
  [[noreturn]] void fail_missing(const std::string& name) const {
    const std::string prefix = std::string{options_.prefix} + ".";
    const std::string bare = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    const auto names = checkpoint_->names();
    const bool has_prefix = std::ranges::any_of(
        names, [&](const auto& other) { return other.starts_with(*wrapper_ + prefix); });
    const auto similar =
        std::ranges::find_if(names, [&](const auto& other) { return other.ends_with("." + bare); });
    const std::string advice = "check that config.json and the weights belong to one model";
    throw InputError{"the checkpoint has no such tensor",
                     checkpoint_->where(*wrapper_ + (has_prefix ? name : bare)),
                     similar == names.end() ? advice : "it has " + *similar + "; " + advice};
  }

  /// Returns the adapter that the checkpoint has of the linear layer `map`, whose weight has that
  /// shape, or an empty one. Throws `InputError` if it does not fit.
  LowRank stored_low_rank(const std::string& map, at::IntArrayRef shape) {
    const auto names = weights::peft_names(map, options_.peft_names);
    LowRank whole = stored_part(map, shape);
    if (whole.a.defined() || names.front() == map || shape.size() != 2) return whole;
    const std::int64_t outputs = shape[0] / std::ssize(names);
    std::vector<LowRank> parts;
    std::int64_t rank = 0;
    for (const std::string& name : names) {
      const LowRank& part = parts.emplace_back(stored_part(name, {outputs, shape[1]}));
      if (part.a.defined()) rank += part.a.size(0);
    }
    if (rank == 0) return {};
    // `save_pretrained` writes one A for all parts; PEFT's own parts have others.
    const at::Tensor& first = parts.front().a;
    const bool is_shared = first.defined() && std::ranges::all_of(parts, [&](const LowRank& part) {
                             return part.a.defined() && part.a.equal(first);
                           });
    if (is_shared) rank = first.size(0);
    whole.scale = checkpoint_->adapter()->config().lora.scale();
    whole.a = at::zeros({rank, shape[1]}, at::kFloat);
    whole.b = at::zeros({shape[0], rank}, at::kFloat);
    for (std::int64_t i = 0, begin = 0; i < std::ssize(parts); ++i) {
      const LowRank& part = parts[static_cast<std::size_t>(i)];
      if (!part.a.defined()) continue;
      const std::int64_t size = part.a.size(0);
      whole.a.narrow(0, begin, size).copy_(part.a);
      whole.b.narrow(0, i * outputs, outputs).narrow(1, begin, size).copy_(part.b);
      if (!is_shared) begin += size;
    }
    return whole;
  }

  /// Returns the adapter that the checkpoint has under the name `map`, or an empty one.
  LowRank stored_part(const std::string& map, at::IntArrayRef shape) {
    const weights::Adapter& adapter = *checkpoint_->adapter();
    const auto a = adapter.find(map + std::string{weights::factor_a});
    if (!a) return {};
    const auto b = adapter.find(map + std::string{weights::factor_b});
    if (shape != at::IntArrayRef{b->shape[0], a->shape[1]}) {
      const std::string sizes = weights::to_string({shape.data(), shape.size()});
      adapter.fail(b->name, "does not fit " + map + ".weight of shape " + sizes, other_base);
    }
    const auto tensor_of = [&](const weights::TensorView& view) {
      used_.insert(view.name.substr(weights::adapter_prefix.size()));
      auto numbers = weights::to_floats(view);
      return at::from_blob(numbers.data(), view.shape, at::kFloat).clone();
    };
    return {.a = tensor_of(*a), .b = tensor_of(*b), .scale = adapter.config().lora.scale()};
  }

  /// Returns memory for a parameter of the base, whose numbers another model has.
  [[nodiscard]] at::Tensor place_of(const weights::TensorView& stored, const std::string& name,
                                    at::IntArrayRef shape) const {
    const weights::Adapter& adapter = *checkpoint_->adapter();
    if (at::IntArrayRef{stored.shape} != shape) {
      adapter.fail(name, "has another shape in the base", other_base);
    }
    if (!adapter.find(name)) return at::empty(shape, at::kFloat);
    adapter.fail(name, "is a weight of the base, which several adapters share",
                 "serve this adapter alone, by --model");
  }

  /// Returns a value with the change that the checkpoint's adapter makes.
  at::Tensor with_adapter(const at::Tensor& value, const std::string& name, bool transposed) {
    if (!name.ends_with(".weight")) return value;
    const auto form = [transposed](const at::Tensor& x) { return transposed ? x.t() : x; };
    const LowRank low = stored_low_rank(name.substr(0, name.rfind('.')),
                                        value.dim() == 2 ? form(value).sizes() : value.sizes());
    return low.a.defined() ? value.add(form(at::mm(low.b, low.a)), low.scale) : value;
  }

  at::Tensor load(const weights::TensorView& stored, at::IntArrayRef shape) {
    if (at::IntArrayRef{stored.shape} != shape) {
      throw InputError{
          "has shape " + weights::to_string(stored.shape) + " in the checkpoint, " +
              weights::to_string({shape.data(), shape.size()}) + " in the model",
          checkpoint_->where(stored.name),
          checkpoint_->adapter() != nullptr ? other_base : std::string{options_.advice_on_sizes}};
    }
    if (!weights::is_floating(stored.dtype)) {
      throw InputError{
          "holds no floating-point numbers but " + std::string{weights::name(stored.dtype)},
          checkpoint_->where(stored.name), "save the weights as float32, float16 or bfloat16"};
    }
    const auto file = checkpoint_->file_of(stored);
    const auto floats = weights::as_floats(stored);
    if (options_.borrows && file && floats) {
      const auto value = borrowed_.borrow(*floats, shape, [file, stored] { file->forget(stored); });
      tensor::refuse_nan(value, checkpoint_->where(stored.name).object, stored.name);
      return value;
    }
    at::Tensor value = at::empty(shape, at::kFloat);
    weights::to_floats(stored.dtype, stored.bytes,
                       {value.mutable_data_ptr<float>(), static_cast<std::size_t>(value.numel())});
    if (file) file->forget(stored);
    tensor::refuse_nan(value, checkpoint_->where(stored.name).object, stored.name);
    return value;
  }

  /// Returns the source of the next parameter's initial values.
  [[nodiscard]] at::Generator generator() const {
    return initial_generator(options_.seed, parameters_.size());
  }

  static constexpr const char* other_base = "name the base that the adapter was trained for";

  const weights::WeightsFolder* checkpoint_;
  Options options_;
  std::vector<tensor::Parameter> parameters_;
  tensor::BorrowedMemory borrowed_;
  LoadReport report_;
  std::set<std::string, std::less<>> used_;
  std::optional<std::string> wrapper_;  // what is before all names, once the first was looked for
  std::string first_map_;               // the first linear layer that may have an adapter
  std::vector<std::string> adapted_;    // the linear layers that have one
  bool adapts_transposed_ = false;
  std::shared_ptr<Dropout> adapter_dropout_ = std::make_shared<Dropout>();
};

}  // namespace seqtrain::model
