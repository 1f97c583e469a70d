// Serves a fine-tuned model's predictions over HTTP. See docs/serving.md.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/serve_flags.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/serve/server.hpp>
#include <seqtrain/storage/find_adapters.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/tensor/machine.hpp>

using namespace seqtrain;

/// Loads an adapter of a model. An error about it also says its name.
model::AnyPredictor with_adapter(model::AnyPredictor& predictor, const std::string& name,
                                 const std::filesystem::path& directory) {
  try {
    return predictor.with_adapter(directory);
  } catch (const InputError& error) {
    throw InputError{error.what(), {.object = "--adapters", .field = name}};
  }
}

void serve_model(const cli::ServeFlags& flags, const log::Log& log) {
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const auto load = [&flags, &log, device] {
    const auto found = storage::find_model(flags.model, {log});
    if (!flags.adapters.empty() && weights::is_adapter(found.directory)) {
      throw InputError{"is itself an adapter",
                       {.object = "--model"},
                       "name its base by --model, and the adapter by --adapters"};
    }
    const auto adapters = storage::find_adapters(flags.adapters, flags.model, found.directory,
                                                 flags.model_name, {log});
    std::optional<predict::EmbeddingOptions> embedding;
    if (flags.embed) embedding.emplace();
    model::AnyPredictor predictor{found.directory,
                                  {.device = device,
                                   .precision = model::precision_named(flags.precision),
                                   .base = found.base,
                                   .needs_head = adapters.empty(),
                                   .embedding = embedding}};
    log.lines(model::describe(predictor.precision(), device, predictor.maps_in_bf16()));
    log.lines(predictor.describe_embeddings());
    const serve::ModelFacts facts{.id = found.place,
                                  .dtype = std::string{model::dtype_name(predictor.precision())},
                                  .compute_type = device.is_cpu() ? "cpu" : "gpu"};
    serve::Served<model::AnyPredictor> served{predictor, facts, predictor.has_head()};
    for (const auto& [name, adapter] : adapters) {
      auto own = facts;
      own.id = adapter.place;
      own.name = name;
      served.adapters.push_back({with_adapter(predictor, name, adapter.directory), own});
    }
    return served;
  };
  const cli::StopSignals stop{{.grace_seconds = flags.grace_seconds,
                               .log = log.warnings(),
                               .plan = "the accepted requests are answered, then the program ends",
                               .unfinished = [] { return "Some requests have no answer."; }}};
  serve::Server<model::AnyPredictor> server{
      {.host = flags.host,
       .port = static_cast<std::uint16_t>(flags.port),
       .limits = {.body = static_cast<std::size_t>(flags.payload_limit)},
       .max_buffered_bytes = static_cast<std::size_t>(flags.max_buffered_bytes)},
      flags.service_options(),
      load,
      log};
  const cli::ReloadSignal reload{[&server] { server.reload(); }};
  server.run(stop.token());
  if (server.is_loading()) cli::end_at_once(cli::done);  // nobody needs that model any more
}

int serve_main(int argc, char** argv) {
  return cli::run([&](log::Log& log) {
    cli::ServeFlags flags;
    if (flags.parse(argc, argv, log)) serve_model(flags, log);
  });
}
