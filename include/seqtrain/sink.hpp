#pragma once

#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/key.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/sink/publish.hpp>
