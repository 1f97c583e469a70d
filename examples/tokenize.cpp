// Reads JSON lines {"text": …, "text_pair": …} and writes {"input_ids": […], "token_type_ids":
// […]}.
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/text.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

using namespace seqtrain;

std::string to_json(const std::vector<text::Id>& ids, std::size_t type_zero) {
  json::Writer line;
  line.begin_object().key("input_ids").begin_array();
  for (const text::Id id : ids) line.value(id);
  line.end_array().key("token_type_ids").begin_array();
  for (std::size_t i = 0; i < ids.size(); ++i) line.value(i < type_zero ? 0 : 1);
  return line.end_array().end_object().text() + "\n";
}

template <text::Tokenizer T>
void tokenize(const T& tokenizer, const text::EncodeOptions& options) {
  typename T::Scratch scratch;
  std::vector<text::Id> ids;
  std::int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const auto record = json::Document::parse(line, "stdin:" + std::to_string(++number));
    const auto pair = record.root().find("text_pair");
    ids.clear();
    const std::size_t type_zero = tokenizer.encode(
        record.root().at("text").string(), pair ? std::optional{pair->string()} : std::nullopt,
        options, scratch, ids);
    std::cout << to_json(ids, type_zero);
  }
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return cli::run([&] {
    std::string folder;
    std::int64_t max_length = 0;
    bool no_special_tokens = false;
    cli::Flags flags{"tokenize", "turns JSON lines of texts into JSON lines of ids"};
    flags
        .add("tokenizer", folder,
             "folder with the tokenizer, or a SentencePiece .model, or an address")
        .add("max-length", max_length,
             "most ids of an example; longer ones are truncated (0: no limit)")
        .add_switch("no-special-tokens", no_special_tokens,
                    "leave out special tokens such as [CLS]");
    if (!flags.parse(argc, argv)) return;
    if (max_length < 0) throw InputError{"must be 0 or more", {.object = "--max-length"}};
    text::EncodeOptions options{.add_special_tokens = !no_special_tokens};
    if (max_length > 0) options.max_length = static_cast<std::size_t>(max_length);
    folder = storage::fetch(folder, {log::log_on_stderr()}).string();
    if (folder.ends_with(".model")) return tokenize(text::load_subwords(folder), options);
    auto tokenizer = text::load_tokenizer(folder);
    // Else the token types would say where second texts begin: see `text::Tokenizer`.
    if (tokenizer.windows()) tokenizer.set_long_texts(text::LongTexts::truncate);
    for (const auto& warning : tokenizer.warnings()) log::log_on_stderr().warning(warning);
    tokenizer.visit([&](const auto& t) { tokenize(t, options); });
  });
}
