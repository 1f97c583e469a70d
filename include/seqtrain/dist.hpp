#pragma once

#include <seqtrain/dist/address.hpp>
#include <seqtrain/dist/connection.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/dist/heartbeat.hpp>
#include <seqtrain/dist/pending.hpp>
#include <seqtrain/dist/server.hpp>
#include <seqtrain/dist/store.hpp>
#include <seqtrain/dist/world.hpp>
