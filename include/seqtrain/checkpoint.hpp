#pragma once

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/checkpoint/same_run.hpp>
#include <seqtrain/checkpoint/with_checkpointer.hpp>
