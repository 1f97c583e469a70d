#pragma once

#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
