#pragma once

#include <seqtrain/optim/adafactor.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/adam_moments.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/optim/lion.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/optim/muon.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/optim/sgd.hpp>
