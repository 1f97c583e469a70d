#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {

/// The routes of all contracts of a server. It also decides what requests that have no route get.
class RouteTable {
 public:
  /// The route of a request, or the methods that its path takes.
  struct Match {
    const Route* route = nullptr;  ///< null if there is no such path, or if it has other methods
    std::optional<std::string> model = {};  ///< the model's name in the path
    std::string allow = {};  ///< if `route` is null, the path's methods; empty for no such path
    bool open = false;       ///< needs no key
    ErrorForm error = tei_error;
  };

  /// `model_name` is the name of the server's own model. Throws `Error` if a route is not whole.
  RouteTable(std::vector<Contract> contracts, std::string model_name)
      : contracts_{std::move(contracts)}, model_name_{std::move(model_name)} {
    for (const Contract& contract : contracts_) {
      for (const Route& route : contract.routes) check(route);
      const auto& [predict, rank] = contract.forms;
      forms_.predict.insert(forms_.predict.end(), predict.begin(), predict.end());
      forms_.rank.insert(forms_.rank.end(), rank.begin(), rank.end());
    }
  }

  [[nodiscard]] const BodyForms& forms() const { return forms_; }

  /// Returns the route that takes a request's path and method. If several do, a path without a name
  /// or with the name of the server's own model comes before others, then the earlier contract.
  [[nodiscard]] Match find(const HttpRequest& http) const {
    const auto path = http.path();
    Match match;
    int best = -1;
    bool any_open = false;
    std::array<bool, methods.size()> taken{};
    for (const Contract& contract : contracts_) {
      for (const Route& route : contract.routes) {
        if (!path.starts_with(route.path)) continue;
        const auto rest = path.substr(route.path.size());
        const auto model = route.model_in ? route.model_in(rest) : std::nullopt;
        if (route.model_in ? !model : !rest.empty()) continue;
        const bool takes =
            route.method == http.method || (route.method == "GET" && http.method == "HEAD");
        const bool exact = !model || *model == model_name_;
        taken[index_of(route.method)] = true;
        any_open = any_open || route.open;
        const int rank = (takes ? 2 : 0) + (exact ? 1 : 0);
        if (rank <= best) continue;
        best = rank;
        match.route = takes ? &route : nullptr;
        match.model = model;
        match.open = route.open;
        match.error = contract.error;
      }
    }
    if (!match.route && best >= 0) {
      match.open = any_open;
      match.allow = allowed(taken);
    }
    for (const Contract& contract : contracts_) {
      const auto prefix = contract.error_prefix;
      if (!prefix.empty() && path.starts_with(prefix)) match.error = contract.error;
    }
    return match;
  }

 private:
  static constexpr std::array<std::string_view, 5> methods{"GET", "HEAD", "POST", "PUT", "OPTIONS"};

  static std::size_t index_of(std::string_view method) {
    return static_cast<std::size_t>(std::ranges::find(methods, method) - methods.begin());
  }

  /// Returns the methods of a path as the header `Allow` lists them.
  static std::string allowed(std::array<bool, methods.size()> taken) {
    taken[index_of("HEAD")] = taken[index_of("GET")];
    taken[index_of("OPTIONS")] = true;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      if (taken[i]) names.push_back(methods[i]);
    }
    return joined(names);
  }

  static void check(const Route& route) {
    const Where where{.object = "route " + std::string{route.method} + " " + route.path};
    if (!route.path.starts_with('/')) throw Error{"its path does not begin with /", where};
    if (route.method != "GET" && route.method != "POST" && route.method != "PUT") {
      throw Error{"its method is none of GET, POST and PUT", where};
    }
    const int handlers = (route.answer ? 1 : 0) + (route.work ? 1 : 0) + (route.read ? 1 : 0);
    if (handlers != 1) throw Error{"has not exactly one of answer, work and read", where};
  }

  std::vector<Contract> contracts_;
  std::string model_name_;
  BodyForms forms_;
};

}  // namespace seqtrain::serve
