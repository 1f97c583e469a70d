#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/sha.h>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/s3/credentials.hpp>
#include <seqtrain/s3/profile.hpp>

namespace seqtrain::s3 {

/// The surroundings in which credentials are looked for.
struct Surroundings {
  const Environment& environment;
  const Profiles& profiles;
  std::string profile_name;  ///< `AWS_PROFILE`, else `default`
  std::string region;

  /// Throws `InputError` if `AWS_PROFILE` names a profile that is not there.
  static Surroundings from(const Environment& environment, const Profiles& profiles) {
    auto name = environment("AWS_PROFILE");
    if (!name) name = environment("AWS_DEFAULT_PROFILE");
    const auto* const profile = profiles.find(name.value_or("default"));
    if (profile == nullptr && name) {
      throw InputError{"no such profile", {.object = *name}, "see AWS_PROFILE"};
    }
    auto region = environment("AWS_REGION");
    if (!region) region = environment("AWS_DEFAULT_REGION");
    if (!region && profile != nullptr) region = setting(*profile, "region");
    return {environment, profiles, name.value_or("default"), region.value_or("us-east-1")};
  }

  [[nodiscard]] Profile profile() const {
    const auto* const found = profiles.find(profile_name);
    return found == nullptr ? Profile{} : *found;
  }

  /// Returns the address of another service of Amazon's.
  [[nodiscard]] http::Url server(const std::string& service, const std::string& otherwise) const {
    auto upper = service;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    auto text = environment("AWS_ENDPOINT_URL_" + upper);
    if (!text) text = environment("AWS_ENDPOINT_URL");
    const std::string end = region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
    return http::Url::parse(text.value_or("https://" + otherwise + end), "AWS_ENDPOINT_URL");
  }
};

namespace detail {

/// Returns the identity that a profile describes, or null if it describes none.
inline std::unique_ptr<Credentials> profile_identity(const Surroundings& around,
                                                     const std::string& name, int depth = 0);

inline std::unique_ptr<Credentials> web_identity(const Surroundings& around, std::string role,
                                                 std::string file,
                                                 std::optional<std::string> session) {
  return std::make_unique<AssumedRole>(
      AssumedRole::Options{.role_arn = std::move(role),
                           .session_name = session.value_or("seqtrain"),
                           .server = around.server("sts", "sts." + around.region),
                           .region = around.region,
                           .token_file = std::move(file)});
}

/// Returns the keys that a profile has itself, or null.
inline std::unique_ptr<Credentials> profile_keys(const Profile& profile, const std::string& name) {
  const auto key = setting(profile, "aws_access_key_id");
  if (!key) return {};
  return std::make_unique<GivenKeys>(
      Keys{*key, setting(profile, "aws_secret_access_key").value_or(""),
           setting(profile, "aws_session_token").value_or("")},
      "the profile " + name);
}

/// Returns the identity `credential_source` of a profile.
inline std::unique_ptr<Credentials> source_identity(const Surroundings& around,
                                                    const std::string& source);

inline std::unique_ptr<Credentials> assumed_role(const Surroundings& around, const Profile& profile,
                                                 const std::string& role, const std::string& name,
                                                 int depth) {
  std::shared_ptr<const Credentials> source;
  if (const auto other = setting(profile, "source_profile")) {
    if (*other == name) source = profile_keys(profile, name);
    if (!source) source = profile_identity(around, *other, depth + 1);
  } else if (const auto kind = setting(profile, "credential_source")) {
    source = source_identity(around, *kind);
  }
  if (!source) {
    throw InputError{"has a role_arn, but nothing that may take the role",
                     {.object = "the profile " + name},
                     "add source_profile or credential_source"};
  }
  return std::make_unique<AssumedRole>(AssumedRole::Options{
      .role_arn = role,
      .session_name = setting(profile, "role_session_name").value_or("seqtrain"),
      .external_id = setting(profile, "external_id").value_or(""),
      .server = around.server("sts", "sts." + around.region),
      .region = around.region,
      .source = std::move(source)});
}

/// Returns the file in which `aws sso login` keeps a token: its name is the SHA-1 of the session.
inline std::filesystem::path sso_token_file(const Surroundings& around,
                                            const std::string& session) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(session.data()), session.size(), digest.data());
  return around.environment("HOME").value_or("") + "/.aws/sso/cache/" + hex(digest) + ".json";
}

/// Returns the login that a profile describes, or null.
inline std::unique_ptr<Credentials> sso_login(const Surroundings& around, const Profile& profile) {
  const auto account = setting(profile, "sso_account_id");
  const auto role = setting(profile, "sso_role_name");
  if (!account || !role) return {};
  auto key = setting(profile, "sso_session");
  const auto* const session = key ? around.profiles.find_session(*key) : &profile;
  if (!key) key = setting(profile, "sso_start_url");
  const auto region = session != nullptr ? setting(*session, "sso_region") : std::nullopt;
  if (!key || !region) {
    throw InputError{"lacks its sso-session or sso_region", {.object = around.profile_name}};
  }
  return std::make_unique<SsoLogin>(
      SsoLogin::Options{.token_file = sso_token_file(around, *key),
                        .server = around.server("sso", "portal.sso." + *region),
                        .account_id = *account,
                        .role_name = *role});
}

inline std::unique_ptr<Credentials> profile_identity(const Surroundings& around,
                                                     const std::string& name, int depth) {
  constexpr int deepest = 8;
  const Where where{.object = "the profile " + name};
  const auto* const profile = around.profiles.find(name);
  if (profile == nullptr) throw InputError{"there is no such profile", where};
  if (depth == deepest) throw InputError{"its roles lead to each other", where};
  if (const auto role = setting(*profile, "role_arn")) {
    if (const auto file = setting(*profile, "web_identity_token_file")) {
      return web_identity(around, *role, *file, setting(*profile, "role_session_name"));
    }
    return assumed_role(around, *profile, *role, name, depth);
  }
  if (auto login = sso_login(around, *profile)) return login;
  if (auto keys = profile_keys(*profile, name)) return keys;
  if (const auto command = setting(*profile, "credential_process")) {
    return std::make_unique<KeyProgram>(*command);
  }
  return {};
}

inline std::unique_ptr<Credentials> environment_keys(const Surroundings& around) {
  const auto key = around.environment("AWS_ACCESS_KEY_ID");
  if (!key) return {};
  return std::make_unique<GivenKeys>(
      Keys{*key, around.environment("AWS_SECRET_ACCESS_KEY").value_or(""),
           around.environment("AWS_SESSION_TOKEN").value_or("")},
      "AWS_ACCESS_KEY_ID");
}

/// Returns the role of a container, or null. Its address must be https, or this machine or a
/// container's host, because a token is sent there.
inline std::unique_ptr<Credentials> container_role(const Surroundings& around) {
  const auto relative = around.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = around.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) return {};
  const std::string what =
      relative ? "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" : "AWS_CONTAINER_CREDENTIALS_FULL_URI";
  const auto url = http::Url::parse(relative ? "http://169.254.170.2" + *relative : *full, what);
  const bool is_loopback =  // 127.0.0.1 and its kin, but no name that begins so
      url.host.starts_with("127.") && url.host.find_first_not_of("0123456789.") == url.host.npos;
  const bool near = url.host == "localhost" || is_loopback || url.host == "::1" ||
                    url.host == "169.254.170.2" || url.host == "169.254.170.23" ||
                    url.host == "fd00:ec2::23";
  if (url.scheme != "https" && !near) {
    throw InputError{"must be an https:// address, or on this machine", {.object = what}};
  }
  return std::make_unique<ContainerKeys>(
      url, around.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or(""),
      around.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").value_or(""));
}

inline std::unique_ptr<MachineRole> machine_role(const Surroundings& around) {
  const auto disabled = around.environment("AWS_EC2_METADATA_DISABLED").value_or("");
  if (disabled == "true" || disabled == "TRUE") return {};
  const auto server = around.environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  return std::make_unique<MachineRole>(http::Url::parse(server.value_or("http://169.254.169.254"),
                                                        "AWS_EC2_METADATA_SERVICE_ENDPOINT"));
}

inline std::unique_ptr<Credentials> source_identity(const Surroundings& around,
                                                    const std::string& source) {
  if (source == "Environment") return environment_keys(around);
  if (source == "EcsContainer") return container_role(around);
  if (source == "Ec2InstanceMetadata") return machine_role(around);
  throw InputError{"unknown credential_source",
                   {.object = source},
                   "known are Environment, EcsContainer and Ec2InstanceMetadata"};
}

}  // namespace detail

/// Finds credentials in the order of Amazon's libraries: `AWS_ACCESS_KEY_ID` and its kin, the role
/// of a web identity, the profile, the container's role, the machine's role. `probe` should have
/// short deadlines. Throws `InputError` if nothing is found. If `AWS_NO_SIGN_REQUEST` is set to
/// `YES`, requests are anonymous.
inline std::unique_ptr<Credentials> find_credentials(const Surroundings& around,
                                                     http::Transport& probe) {
  if (around.environment("AWS_NO_SIGN_REQUEST") == "YES") return std::make_unique<Anonymous>();
  if (auto keys = detail::environment_keys(around)) return keys;
  const auto role = around.environment("AWS_ROLE_ARN");
  const auto file = around.environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (role && file) {
    return detail::web_identity(around, *role, *file, around.environment("AWS_ROLE_SESSION_NAME"));
  }
  if (around.profiles.find(around.profile_name) != nullptr) {
    if (auto found = detail::profile_identity(around, around.profile_name)) return found;
  }
  if (auto container = detail::container_role(around)) return container;
  auto machine = detail::machine_role(around);
  for (int attempt = 0; machine && attempt < 2; ++attempt) {
    if (machine->is_there(probe)) return machine;
  }
  throw InputError{"no credentials for s3://",
                   {},
                   "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile by AWS_PROFILE; "
                   "for public objects set AWS_NO_SIGN_REQUEST=YES"};
}

}  // namespace seqtrain::s3
