#pragma once

#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/cuda/cubin_cache.hpp>
#include <seqtrain/cuda/driver.hpp>
#include <seqtrain/cuda/kernel_source.hpp>
#include <seqtrain/cuda/layer_norm_kernel.hpp>
#include <seqtrain/cuda/norm_kernel.hpp>
#include <seqtrain/cuda/nvrtc.hpp>
#include <seqtrain/cuda/squares_kernel.hpp>
