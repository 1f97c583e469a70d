#pragma once

#include <seqtrain/tensor/autocast.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/device_graph.hpp>
#include <seqtrain/tensor/device_kernel.hpp>
#include <seqtrain/tensor/finite.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/tensor/operators.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/tensor/threads.hpp>
