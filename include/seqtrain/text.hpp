#pragma once

#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/bert_normalizer.hpp>
#include <seqtrain/text/bert_splitter.hpp>
#include <seqtrain/text/bpe.hpp>
#include <seqtrain/text/byte_level.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/load_tokenizer.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/templates.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/truncation.hpp>
#include <seqtrain/text/unicode.hpp>
#include <seqtrain/text/utf8.hpp>
#include <seqtrain/text/wordpiece.hpp>
