#pragma once

#include <seqtrain/predict/answer_columns.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/answer_writer.hpp>
#include <seqtrain/predict/csv_row.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/explain.hpp>
#include <seqtrain/predict/k_center.hpp>
#include <seqtrain/predict/most_diverse.hpp>
#include <seqtrain/predict/npy_file.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/text_encoder.hpp>
#include <seqtrain/predict/uncertainty.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/predict/words.hpp>
#include <seqtrain/predict/zero_shot.hpp>
