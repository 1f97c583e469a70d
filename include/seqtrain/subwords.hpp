#pragma once

#include <seqtrain/subwords/check_model.hpp>
#include <seqtrain/subwords/subword_tokenizer.hpp>
