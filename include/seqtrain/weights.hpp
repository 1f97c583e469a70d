#pragma once

/// Includes the room weights, which reads and writes model files without torch.

#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/dtype.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/weights_folder.hpp>
#include <seqtrain/weights/write_config.hpp>
#include <seqtrain/weights/write_torch_file.hpp>
