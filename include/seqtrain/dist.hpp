#pragma once

#include <seqtrain/dist/check_equal.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/shared_keeper.hpp>
#include <seqtrain/dist/world.hpp>
