// Copies, lists and removes objects in Google Cloud Storage.

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/gcs/download.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/upload.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/log/log.hpp>

namespace {

namespace fs = std::filesystem;
namespace gcs = seqtrain::gcs;
using seqtrain::InputError;

constexpr std::string_view usage =
    R"(gcs: copies, lists and removes objects in Google Cloud Storage

  gcs cp [-r] SRC DST   copies a file or an object; SRC, DST or both are gs://bucket/name, and
                        - is stdin or stdout; -r: copies everything below SRC into DST
  gcs cat URI...        writes objects to stdout
  gcs ls [-l] URI       lists the objects whose names begin with URI; -l: with size and date
  gcs stat URI          prints the size, generation, type, date and checksum of an object
  gcs rm [-r] URI...    removes objects; -r: removes everything below URI

  --anonymous           send no credentials, for public objects
  --ca-file FILE        certificate authorities in PEM to trust beside the system's
  --user-project NAME   project that pays for the requests, if the bucket's owner does not
)";

struct Arguments {
  std::string command;
  std::vector<std::string> places;
  bool recursive = false;
  bool details = false;
  bool help = false;
  gcs::ClientOptions client;
};

Arguments parse(std::span<char*> words) {
  Arguments arguments;
  auto& client = arguments.client;
  std::string ca_file;
  const std::map<std::string, bool*> switches{{"-r", &arguments.recursive},
                                              {"-l", &arguments.details},
                                              {"-h", &arguments.help},
                                              {"--help", &arguments.help},
                                              {"--anonymous", &client.anonymous}};
  const std::map<std::string, std::string*> values{{"--ca-file", &ca_file},
                                                   {"--user-project", &client.user_project}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (switches.contains(word)) {
      *switches.at(word) = true;
    } else if (values.contains(word) && i + 1 < words.size()) {
      *values.at(word) = words[++i];
    } else if (word.size() > 1 && word.starts_with('-')) {
      throw InputError{"is an unknown flag or lacks its value: " + word, {}, "see gcs --help"};
    } else if (arguments.command.empty()) {
      arguments.command = word;
    } else {
      arguments.places.push_back(word);
    }
  }
  client.ca_file = ca_file;
  client.log = seqtrain::log::log_on_stderr().warnings();
  return arguments;
}

/// Returns a progress bar on stderr, because stdout may carry the data.
gcs::Progress bar(const std::string& name, std::uint64_t total) {
  if (::isatty(STDERR_FILENO) != 1) return {};
  const auto shown = std::make_shared<seqtrain::log::ByteBar<>>(
      name, seqtrain::log::BarOptions{.enabled = true}, std::cerr);
  return [shown, total](std::uint64_t done) {
    (*shown)(static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
  };
}

void write_out(std::span<const std::byte> bytes) {
  std::cout.write(reinterpret_cast<const char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
}

void cat(const gcs::Client& client, const gcs::Uri& uri) {
  client.read(uri, write_out);
  std::cout << std::flush;
}

gcs::UploadOptions with_bar(const fs::path& file) {
  std::error_code missing;
  return {.progress = bar(file.filename().string(), fs::file_size(file, missing))};
}

void upload(const gcs::Client& client, const std::string& from, gcs::Uri to, bool recursive) {
  if (from == "-") {
    gcs::StreamSource source{[](std::span<std::byte> into) {
      const auto got = std::fread(into.data(), 1, into.size(), stdin);
      if (std::ferror(stdin) != 0) throw seqtrain::Error{"stdin cannot be read"};
      return got;
    }};
    gcs::upload(client, to, source);
  } else if (recursive) {
    if (!fs::is_directory(from)) throw InputError{"not a directory", {.object = from}};
    for (const auto& entry : fs::recursive_directory_iterator{from}) {
      if (!entry.is_regular_file()) continue;
      const auto place = to.child(entry.path().lexically_relative(from).generic_string());
      place.validate();
      gcs::upload_file(client, place, entry.path(), with_bar(entry.path()));
    }
  } else {
    if (to.name.empty() || to.name.ends_with('/'))
      to = to.child(fs::path{from}.filename().string());
    to.validate();
    gcs::upload_file(client, to, from, with_bar(from));
  }
}

void fetch(const gcs::Client& client, const gcs::ObjectInfo& object, const fs::path& path) {
  gcs::download_generation(client, object, path,
                           {.progress = bar(path.filename().string(), object.size)});
}

void download(const gcs::Client& client, const gcs::Uri& from, fs::path to, bool recursive) {
  if (to == "-") return cat(client, from);
  if (recursive) {
    for (const auto& [object, relative] : seqtrain::buckets::list_directory(client, from)) {
      fs::create_directories((to / relative).parent_path());
      fetch(client, object, to / relative);
    }
    return;
  }
  const auto name = std::string_view{from.name}.substr(from.name.rfind('/') + 1);
  if (fs::is_directory(to)) to /= seqtrain::buckets::local_path(name, from);
  fetch(client, client.stat(from), to);
}

void copy(const gcs::Client& client, const gcs::Uri& from, const gcs::Uri& to, bool recursive) {
  if (!recursive) return static_cast<void>(client.copy(from, to));
  const auto prefix = from.as_directory().name.size();
  for (const auto& object : client.list(from.as_directory())) {
    client.copy(object.uri, to.child(std::string_view{object.uri.name}.substr(prefix)));
  }
}

void list(const gcs::Client& client, const gcs::Uri& prefix, bool details) {
  client.list(prefix, [&](const gcs::ObjectInfo& object) {
    if (details) std::cout << object.size << "\t" << object.updated << "\t";
    std::cout << object.uri.text() << "\n";
  });
}

void stat(const gcs::Client& client, const gcs::Uri& uri) {
  const auto info = client.stat(uri);
  std::cout << "uri\t" << info.uri.text() << "\nsize\t" << info.size << "\ngeneration\t"
            << info.generation << "\ncontent-type\t" << info.content_type << "\nupdated\t"
            << info.updated << "\n";
  if (info.crc32c) std::cout << "crc32c\t" << seqtrain::http::base64_of(*info.crc32c) << "\n";
}

void remove(const gcs::Client& client, const gcs::Uri& uri, bool recursive) {
  if (recursive) {
    for (const auto& object : client.list(uri.as_directory())) client.remove(object.uri);
  } else if (!client.remove(uri)) {
    throw gcs::NotFound{"no such object", {.object = uri.text()}};
  }
}

void cp(const Arguments& arguments) {
  const auto& from = arguments.places.at(0);
  const auto& to = arguments.places.at(1);
  if (!gcs::Uri::has(from) && !gcs::Uri::has(to)) throw InputError{"neither SRC nor DST is gs://"};
  const auto source = gcs::Uri::has(from) ? gcs::Uri::parse(from) : gcs::Uri{};
  const auto target = gcs::Uri::has(to) ? gcs::Uri::parse(to) : gcs::Uri{};
  const auto client = gcs::open_client(arguments.client);
  if (!gcs::Uri::has(from)) return upload(client, from, target, arguments.recursive);
  if (!gcs::Uri::has(to)) return download(client, source, to, arguments.recursive);
  copy(client, source, target, arguments.recursive);
}

void perform(const Arguments& arguments) {
  const auto& command = arguments.command;
  const bool known = command == "cp" || command == "cat" || command == "ls" || command == "stat" ||
                     command == "rm";
  if (!known) throw InputError{"unknown command '" + command + "'", {}, "see gcs --help"};
  const std::size_t places = arguments.places.size();
  const bool many = command == "cat" || command == "rm";
  if (places == 0 || (!many && places != (command == "cp" ? 2 : 1))) {
    throw InputError{"wrong number of places for " + command, {}, "see gcs --help"};
  }
  if (command == "cp") return cp(arguments);
  std::vector<gcs::Uri> uris;
  for (const auto& place : arguments.places) uris.push_back(gcs::Uri::parse(place));
  const auto client = gcs::open_client(arguments.client);
  for (const auto& uri : uris) {
    if (command == "cat") cat(client, uri);
    if (command == "ls") list(client, uri, arguments.details);
    if (command == "stat") stat(client, uri);
    if (command == "rm") remove(client, uri, arguments.recursive);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return seqtrain::cli::run([&] {
    const auto arguments = parse(std::span{argv, static_cast<std::size_t>(argc)}.subspan(argc > 0));
    if (arguments.help) {
      std::cout << usage;
      return;
    }
    perform(arguments);
  });
}
