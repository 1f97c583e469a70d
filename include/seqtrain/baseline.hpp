#pragma once

#include <seqtrain/baseline/domain_classifier.hpp>
#include <seqtrain/baseline/judge.hpp>
#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/linear_problem.hpp>
#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/saved_model.hpp>
#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/term_table.hpp>
#include <seqtrain/baseline/term_tokenizer.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/baseline/tfidf.hpp>
#include <seqtrain/baseline/tfidf_builder.hpp>
#include <seqtrain/baseline/tiled_rows.hpp>
