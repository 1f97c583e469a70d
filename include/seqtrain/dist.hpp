#pragma once

#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/shared_checkpointer.hpp>
#include <seqtrain/dist/world.hpp>
