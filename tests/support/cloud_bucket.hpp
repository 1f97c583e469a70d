#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/credentials.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/s3/client.hpp>
#include <seqtrain/s3/sink.hpp>

#include "support/fake_s3.hpp"
#include "support/fake_storage.hpp"
#include "support/fake_transport.hpp"
#include "support/simulation/simulation.hpp"
#include "support/sleepless_time.hpp"

namespace seqtrain::tests {

/// A cloud's store in a simulated process: requests are the process's calls, and files are on its
/// simulated disk.
template <class Sink>
class CloudPlace {
 public:
  CloudPlace(Sink sink, sim::Process& process) : sink_{std::move(sink)}, process_{&process} {}

  [[nodiscard]] std::string name() const { return sink_.name(); }
  void put(std::string_view key, std::span<const std::byte> bytes) { sink_.put(key, bytes); }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    const auto content = sim::Files{*process_}.read(file);
    if (!content) throw Error{"cannot be read", {.object = file.string()}};
    sink_.put(key, content->bytes);
  }
  void flush() { sink_.flush(); }
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    return sink_.list(key);
  }
  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    return sink_.get(key);
  }
  bool get_file(std::string_view key, const std::filesystem::path& file) const {
    const auto object = sink_.get(key);
    if (!object) return false;
    BasicAtomicFile<sim::Files> copy{file, sim::Files{*process_}};
    copy.write(object->bytes);
    copy.commit();
    return true;
  }
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    return sink_.put_if(key, bytes, generation);
  }
  void remove(std::string_view key) { sink_.remove(key); }

 private:
  Sink sink_;
  sim::Process* process_;
};

/// S3, for `CloudBucket`.
struct SimulatedS3 {
  using Sink = s3::Sink;
  using Service = FakeS3;

  static Sink sink(std::unique_ptr<http::Transport> transport, const http::Timing& timing,
                   const std::string& prefix) {
    s3::SessionOptions options{.timing = timing};
    options.endpoint = http::Url{"http", "127.0.0.1", "9000"};
    options.path_style = true;
    return {s3::Client{std::make_unique<s3::Session>(
                std::move(transport), std::make_unique<CountingKeys>(), std::move(options))},
            s3::Uri{"bucket", prefix}};
  }
  /// Returns the name of the object, or the folder of a list.
  static std::string object(const ServerRequest& request) {
    const auto question = std::min(request.target.find('?'), request.target.size());
    const std::string path = request.target.substr(1, question - 1);
    const auto prefix = request.target.find("&prefix=");
    if (prefix != std::string::npos) return percent_decode(request.target.substr(prefix + 8));
    return percent_decode(path.substr(std::min(path.find('/') + 1, path.size())));
  }
  static bool is_list(const ServerRequest& request) {
    return request.target.find("list-type=") != std::string::npos;
  }
  static bool is_conditional(const ServerRequest& request) {
    return !request.header("If-Match").empty() || !request.header("If-None-Match").empty();
  }
};

/// Google Cloud Storage, for `CloudBucket`.
struct SimulatedGoogle {
  using Sink = gcs::Sink;
  using Service = FakeStorage;

  static Sink sink(std::unique_ptr<http::Transport> transport, const http::Timing& timing,
                   const std::string& prefix) {
    return {gcs::Client{std::make_unique<gcs::Session>(
                std::move(transport), std::make_unique<gcs::Anonymous>(),
                gcs::SessionOptions{.timing = timing, .log = {}})},
            gcs::Uri{"bucket", prefix}};
  }
  static std::string object(const ServerRequest& request) {
    const std::string_view named = R"("name":")";
    if (const auto at = request.body.find(named); request.method == "POST" && at != at_end) {
      const auto begin = at + named.size();
      return request.body.substr(begin, request.body.find('"', begin) - begin);
    }
    const auto question = std::min(request.target.find('?'), request.target.size());
    const auto path = request.target.substr(0, question);
    const auto prefix = request.target.find("&prefix=");
    if (prefix != at_end) return percent_decode(request.target.substr(prefix + 8));
    return percent_decode(path.substr(path.rfind('/') + 1));
  }
  static bool is_list(const ServerRequest& request) {
    return request.target.find("&prefix=") != at_end;
  }
  static bool is_conditional(const ServerRequest& request) {
    return request.target.find("ifGenerationMatch=") != at_end;
  }

 private:
  static constexpr auto at_end = std::string::npos;
};

/// The remote stores of histories: a bucket of a cloud's service in memory, which processes reach
/// by the cloud's client. Requests and answers get lost, and a request of a process that dies may
/// reach the service later.
template <class Cloud>
class CloudBucket {
 public:
  using Place = CloudPlace<typename Cloud::Sink>;

  explicit CloudBucket(sim::Random& random) : random_{random}, fates_{random} {}

  [[nodiscard]] Place place(sim::Process& process, const std::string& prefix) {
    auto transport = std::make_unique<FakeTransport>([this, &process](const auto& seen) {
      ServerRequest request{seen.method, seen.target, seen.headers, seen.body};
      request.headers.push_back({"Host", "storage.googleapis.com"});
      return call(process, request);
    });
    return {Cloud::sink(std::move(transport), time_.timing(), prefix), process};
  }
  [[nodiscard]] sim::Bucket::Faults& faults() { return fates_.faults(); }
  bool corrupt(const std::string& key, sim::Random& random) {
    auto text = service_.read(key);
    if (!text || text->empty()) return false;
    char& byte = (*text)[random.below(text->size())];
    byte = static_cast<char>(byte ^ 1 << random.below(8));
    service_.write(key, *text);
    return true;
  }
  [[nodiscard]] std::optional<std::string> read(const std::string& key) {
    return service_.read(key);
  }
  [[nodiscard]] std::vector<std::string> list(const std::string& folder) {
    auto names = service_.names();
    std::erase_if(names, [&](const auto& name) { return !name.starts_with(folder + "/"); });
    return names;
  }

 private:
  static sim::Operation operation(const ServerRequest& request) {
    using enum sim::Operation;
    if (Cloud::is_list(request)) return store_list;
    if (request.method == "GET" || request.method == "HEAD") return store_get;
    if (request.method == "DELETE") return store_remove;
    return Cloud::is_conditional(request) ? store_put_if : store_put;
  }

  http::Response call(sim::Process& process, const ServerRequest& request) {
    const auto effect = [&] {
      if (!late_.empty() && random_.chance(0.5)) {
        service_.handle(late_.front());
        late_.erase(late_.begin());
      }
      const auto fate = fates_.next_fate();
      if (fate == sim::Bucket::Fate::not_reached) throw http::TransportError{"not reached"};
      auto response = service_.handle(request);
      if (fate == sim::Bucket::Fate::answer_lost) throw http::TransportError{"a reset"};
      response.headers.push_back({"Content-Length", std::to_string(response.body.size())});
      if (request.method == "HEAD") response.body.clear();
      return response;
    };
    const auto part = [&] {
      if (random_.chance(0.5)) {
        service_.handle(request);
      } else if (random_.chance(faults().late)) {
        late_.push_back(request);
      }
    };
    return process.perform(operation(request), Cloud::object(request), effect, part);
  }

  sim::Random& random_;
  sim::Bucket fates_;  ///< decides what happens to a request
  typename Cloud::Service service_;
  SleeplessTime time_;
  std::vector<ServerRequest> late_;
};

}  // namespace seqtrain::tests
