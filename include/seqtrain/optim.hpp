#pragma once

#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/clip.hpp>
#include <seqtrain/optim/finite.hpp>
#include <seqtrain/optim/one_cycle.hpp>
#include <seqtrain/optim/outcome.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/optim/schedule.hpp>
#include <seqtrain/optim/step.hpp>
