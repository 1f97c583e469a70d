#pragma once

#include <seqtrain/machine/container_limits.hpp>
#include <seqtrain/machine/gpus.hpp>
#include <seqtrain/machine/host_use.hpp>
#include <seqtrain/machine/kernel_text.hpp>
#include <seqtrain/machine/machine.hpp>
#include <seqtrain/machine/machine_use.hpp>
#include <seqtrain/machine/nvml.hpp>
