#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain::dist {

namespace detail {

/// Returns the numeric form of an IPv4 or IPv6 address.
inline std::string numeric(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST] = {};
  if (::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text;
}

/// Tells whether a numeric address is reachable only from this machine.
inline bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.") || address.starts_with("::ffff:127.");
}

/// An address that a name resolves to.
struct Resolved {
  sockaddr_storage address{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&address);  // NOLINT: sockets take this type
  }
};

/// Resolves a name or a numeric address. Throws `InputError` with the name if it does not resolve.
inline std::vector<Resolved> resolve(const std::string& name, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) {
    throw InputError{
        std::string{"the name does not resolve to an address: "} + ::gai_strerror(code),
        {.object = name},
        "check MASTER_ADDR, or the cluster that the launcher describes"};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, &::freeaddrinfo};
  std::vector<Resolved> result;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    auto& next = result.emplace_back();
    next.size = entry->ai_addrlen;
    std::memcpy(&next.address, entry->ai_addr, entry->ai_addrlen);
  }
  return result;
}

/// Returns the address from which this machine sends to another one, or "" if there is no route.
inline std::string source_towards(const Resolved& target) {
  const OwnedDescriptor socket{::socket(target.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (socket.number < 0) return {};
  Resolved own{.size = sizeof(sockaddr_storage)};
  // A UDP socket sends nothing when it connects: it only looks up the route.
  const bool found = ::connect(socket.number, target.get(), target.size) == 0 &&
                     ::getsockname(socket.number, reinterpret_cast<sockaddr*>(&own.address),
                                   &own.size) == 0;  // NOLINT
  return found ? numeric(own.get(), own.size) : std::string{};
}

/// An address of this machine and the network interface that has it.
struct InterfaceAddress {
  std::string interface;
  std::string address;
};

/// Lists the IPv4 and IPv6 addresses of this machine's network interfaces, IPv4 first.
inline std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner{list, &::freeifaddrs};
  std::vector<InterfaceAddress> result;
  for (const int family : {AF_INET, AF_INET6}) {
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
      result.push_back({entry->ifa_name, numeric(entry->ifa_addr, size)});
    }
  }
  return result;
}

/// Returns the source address of the default route, else an interface's address that is not a
/// loopback address, else `otherwise`.
inline std::string outward_address(const std::string& otherwise) {
  for (const auto* elsewhere : {"192.0.2.1", "2001:db8::1"}) {  // reserved for documentation
    const auto address = source_towards(resolve(elsewhere, 9).front());
    if (!address.empty() && !is_loopback(address)) return address;
  }
  for (const auto& [interface, address] : interface_addresses()) {
    if (!is_loopback(address)) return address;
  }
  return otherwise;
}

}  // namespace detail

/// Returns the address of a network interface of this machine, given the interface's name or one of
/// its addresses. Throws `InputError` that lists the interfaces if there is no such interface.
inline std::string address_of_interface(const std::string& interface) {
  std::string known;
  for (const auto& [name, address] : detail::interface_addresses()) {
    if (interface == name || interface == address) return address;
    known.append(known.empty() ? "" : ", ").append(name).append(" ").append(address);
  }
  throw InputError{"this machine has no such network interface or address",
                   {.object = interface},
                   "there are " + (known.empty() ? "none" : known)};
}

/// Returns the address at which other machines of a run reach this one: the address from which it
/// sends to the master. It is a loopback address only if the master's address is one. With
/// `other_hosts` the master's name may resolve to a loopback address on the master itself, as on
/// Debian; then the source address of the default route is returned. Throws `InputError` if the
/// master's name does not resolve or there is no route to it.
inline std::string address_towards(const std::string& master_host, int master_port,
                                   bool other_hosts = false) {
  for (const auto& target : detail::resolve(master_host, master_port)) {
    const auto address = detail::source_towards(target);
    if (address.empty()) continue;
    if (!detail::is_loopback(address)) return address;
    const bool meant = master_host == "localhost" || detail::is_loopback(master_host);
    if (other_hosts && !meant) return detail::outward_address(address);
    return address.starts_with("127.") ? "127.0.0.1" : address;
  }
  throw InputError{"no network interface of this machine leads to the master",
                   {.object = master_host + ":" + std::to_string(master_port)}};
}

}  // namespace seqtrain::dist
