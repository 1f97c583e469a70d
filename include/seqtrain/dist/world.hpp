#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/parse_number.hpp>

namespace seqtrain::dist {

/// The processes that train one model together, and this process's position among them. Ranks count
/// from 0; rank 0 is the master.
struct World {
  int rank = 0;
  int size = 1;
  int local_rank = 0;         ///< index of this process on its host
  int local_size = 1;         ///< number of processes on this host
  int hosts = 1;              ///< number of hosts
  int host = 0;               ///< index of this host
  std::string master_host{};  ///< name or address of the master's host; empty if there is none
  int master_port = 0;        ///< port of the store through which the processes find each other
  bool agent_store = false;   ///< the launcher serves that store; otherwise rank 0 does
  int restart = 0;            ///< number of times that the launcher has restarted the processes
  std::string run_id{};       ///< the launcher's name for the run; empty without a launcher
  std::string source{};  ///< `torchrun`, `CLUSTER_SPEC` or `TF_CONFIG`; empty for a single process

  /// Returns the world that the launcher describes: by torchrun's variables, else `CLUSTER_SPEC` of
  /// Vertex AI, else `TF_CONFIG`, else a single process. Throws `InputError` with the variable and
  /// its value if variables are missing or contradict each other.
  [[nodiscard]] static World from_environment(const Environment& environment = process_environment);

  /// Tells whether torchrun started this process. torchrun restarts all processes if one ends with
  /// an exit code other than 0.
  [[nodiscard]] static bool under_torchrun(const Environment& environment = process_environment) {
    return environment("TORCHELASTIC_RUN_ID").has_value();
  }
};

namespace detail {

/// The largest count that a launcher may give.
inline constexpr int no_limit = std::numeric_limits<int>::max();

/// Throws an `InputError` about a variable's value.
[[noreturn]] inline void reject(const std::string& name, const std::string& value,
                                const std::string& expected) {
  throw InputError{"is '" + value + "'; expected " + expected, {.object = name}};
}

/// Parses an integer from `least` to `most`.
inline int integer_of(const std::string& name, const std::string& value, int least, int most) {
  const auto number = parse_number<int>(value);
  if (number && *number >= least && *number <= most) return *number;
  reject(name, value,
         most == no_limit
             ? "an integer of at least " + std::to_string(least)
             : "an integer from " + std::to_string(least) + " to " + std::to_string(most));
}

/// The environment variables of torchrun. Other launchers also set the first four of them.
class TorchrunVariables {
 public:
  explicit TorchrunVariables(const Environment& environment) : environment_{environment} {}

  /// Tells whether a variable is set that gives the number of processes or the rank.
  [[nodiscard]] bool any() const {
    return environment_("RANK") || environment_("WORLD_SIZE") || environment_("LOCAL_RANK") ||
           environment_("LOCAL_WORLD_SIZE");
  }

  [[nodiscard]] World world() const {
    World world{.source = "torchrun"};
    world.size = required("WORLD_SIZE", 1, no_limit);
    world.rank = required("RANK", 0, world.size - 1);
    world.local_size = optional("LOCAL_WORLD_SIZE", 1, world.size, 1);
    world.local_rank = optional("LOCAL_RANK", 0, world.local_size - 1, 0);
    place_hosts(world);
    if (world.size > 1 || environment_("MASTER_ADDR")) {
      world.master_host = text("MASTER_ADDR", "the name or address of rank 0's host");
      world.master_port = required("MASTER_PORT", 1, 65535);
    }
    world.agent_store = environment_("TORCHELASTIC_USE_AGENT_STORE") == "True";
    world.restart = optional("TORCHELASTIC_RESTART_COUNT", 0, no_limit, 0);
    world.run_id = environment_("TORCHELASTIC_RUN_ID").value_or("");
    return world;
  }

 private:
  [[nodiscard]] std::string text(const std::string& name, const std::string& expected) const {
    auto value = environment_(name);
    if (!value) {
      throw InputError{"is not set; expected " + expected,
                       {.object = name},
                       "other variables of torchrun are set: set all of them or none"};
    }
    return *std::move(value);
  }

  [[nodiscard]] int required(const std::string& name, int least, int most) const {
    return integer_of(name, text(name, "an integer"), least, most);
  }

  [[nodiscard]] int optional(const std::string& name, int least, int most, int otherwise) const {
    const auto value = environment_(name);
    return value ? integer_of(name, *value, least, most) : otherwise;
  }

  // Hosts may have different numbers of processes, so only the launcher knows the number of hosts.
  // torchrun gives it in GROUP_WORLD_SIZE.
  void place_hosts(World& world) const {
    const int others = world.size - world.local_size;
    const int guess = (world.size + world.local_size - 1) / world.local_size;
    world.hosts = optional("GROUP_WORLD_SIZE", others > 0 ? 2 : 1, others + 1, guess);
    world.host = optional("GROUP_RANK", 0, world.hosts - 1, world.rank / world.local_size);
    if (world.host >= world.hosts) world.host = world.hosts - 1;
    if (world.local_rank > world.rank) {
      reject("LOCAL_RANK", std::to_string(world.local_rank),
             "at most RANK, which is " + std::to_string(world.rank));
    }
  }

  const Environment& environment_;
};

/// A list of machines in JSON, as Vertex AI gives it in `CLUSTER_SPEC` and `TF_CONFIG`: pools of
/// `host:port`, and this machine's position among them. Each machine runs one process.
class Machines {
 public:
  /// `order` names the pools of the processes that train, in the order of their ranks. A name that
  /// ends in `*` stands for the name followed by 0, 1, 2 and so on. Other pools do not train.
  Machines(const std::string& variable, const std::string& text,
           const std::vector<std::string>& order)
      : variable_{variable} {
    const auto spec = json::Document::parse(text, variable);
    if (const auto cluster = spec.root().find("cluster")) read_pools(*cluster, order);
    if (addresses_.size() > 1) find_task(spec.root());
  }

  /// Returns the number of machines that train.
  [[nodiscard]] int size() const { return static_cast<int>(addresses_.size()); }

  /// Returns the number of machines in all pools, including those that do not train.
  [[nodiscard]] int all() const { return all_; }

  [[nodiscard]] World world() const {
    World world{.source = variable_};
    if (size() <= 1) return world;
    world.rank = world.host = rank_;
    world.size = world.hosts = size();
    const auto& master = addresses_.front();
    const auto colon = master.rfind(':');
    if (colon == std::string::npos || colon == 0) reject(field_, master, "host:port");
    world.master_host = master.substr(0, colon);
    world.master_port = integer_of(field_, master.substr(colon + 1), 1, 65535);
    if (world.master_host.front() == '[' && world.master_host.back() == ']') {
      world.master_host = world.master_host.substr(1, world.master_host.size() - 2);
    }
    return world;
  }

 private:
  void read_pools(const json::Value& cluster, const std::vector<std::string>& order) {
    for (const auto& [name, pool] : cluster.members()) {
      if (pool.is_array()) all_ += static_cast<int>(pool.items().size());
    }
    for (const auto& name : order) {
      if (!name.ends_with('*')) {
        read_pool(cluster, name);
        continue;
      }
      const auto stem = name.substr(0, name.size() - 1);
      // A pool whose machines are not needed may be missing, so numbers may be skipped.
      for (std::size_t number = 0; number < cluster.members().size() + 8; ++number) {
        read_pool(cluster, stem + std::to_string(number));
      }
    }
  }

  void read_pool(const json::Value& cluster, const std::string& name) {
    const auto pool = cluster.find(name);
    if (!pool) return;
    first_of_pool_[name] = {size(), static_cast<int>(pool->items().size())};
    for (const auto& machine : pool->items()) addresses_.emplace_back(machine.string());
    if (field_ == variable_) field_ += ": cluster." + name + "[0]";
  }

  void find_task(const json::Value& root) {
    const auto task = root.at("task");
    const std::string type{task.at("type").string()};
    const auto pool = first_of_pool_.find(type);
    if (pool == first_of_pool_.end()) {
      throw task.at("type").error("is '" + type + "', which is not a pool that trains");
    }
    const auto index = task.at("index");
    const std::string number =
        index.is_string() ? std::string{index.string()} : std::to_string(index.integer());
    rank_ = pool->second.first +
            integer_of(variable_ + ": task.index", number, 0, pool->second.second - 1);
  }

  std::string variable_;
  std::string field_ = variable_;  // the field that holds the master's address
  std::vector<std::string> addresses_;
  std::map<std::string, std::pair<int, int>> first_of_pool_;  // first rank and size
  int rank_ = 0;
  int all_ = 0;
};

/// Throws `InputError` if the two machine lists of a cloud job have different lengths. `TF_CONFIG`
/// gives some pools the names of processes that do not train.
inline void check_agreement(const Machines& spec, const Machines& config) {
  if (config.size() == 0 || spec.size() == config.size() || spec.size() == config.all()) return;
  throw InputError{"names " + std::to_string(config.size()) + " machines that train; expected " +
                       std::to_string(spec.size()) + " as in CLUSTER_SPEC",
                   {.object = "TF_CONFIG"},
                   "unset one of them"};
}

}  // namespace detail

inline World World::from_environment(const Environment& environment) {
  const detail::TorchrunVariables torchrun{environment};
  if (torchrun.any()) return torchrun.world();
  const auto spec = environment("CLUSTER_SPEC");
  const auto config = environment("TF_CONFIG");
  const auto workers = [&] {
    return detail::Machines{"TF_CONFIG", *config, {"chief", "master", "worker"}};
  };
  if (spec) {
    const detail::Machines pools{"CLUSTER_SPEC", *spec, {"workerpool*"}};
    if (config) detail::check_agreement(pools, workers());
    return pools.world();
  }
  if (config) return workers().world();
  return {};
}

}  // namespace seqtrain::dist
