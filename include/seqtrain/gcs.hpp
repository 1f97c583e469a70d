#pragma once

#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/download.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/gcs/upload.hpp>
#include <seqtrain/gcs/uri.hpp>
