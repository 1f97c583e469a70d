#pragma once

#include <seqtrain/subwords/subword_tokenizer.hpp>
