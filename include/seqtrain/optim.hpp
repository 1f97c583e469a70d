#pragma once

#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/clip.hpp>
#include <seqtrain/optim/finite.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
