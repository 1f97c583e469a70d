#pragma once

#include <seqtrain/machine/gpus.hpp>
#include <seqtrain/machine/host_use.hpp>
#include <seqtrain/machine/machine.hpp>
