#pragma once

#include <seqtrain/dist/address.hpp>
#include <seqtrain/dist/buckets.hpp>
#include <seqtrain/dist/check_equal.hpp>
#include <seqtrain/dist/exchange.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/group_connection.hpp>
#include <seqtrain/dist/heartbeat.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/dist/row_runs.hpp>
#include <seqtrain/dist/server.hpp>
#include <seqtrain/dist/shared_keeper.hpp>
#include <seqtrain/dist/store.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/dist/world.hpp>
