#pragma once

#include <seqtrain/s3/client.hpp>
#include <seqtrain/s3/open.hpp>
#include <seqtrain/s3/sink.hpp>
#include <seqtrain/s3/upload.hpp>
#include <seqtrain/s3/uri.hpp>
