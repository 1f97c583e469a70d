#pragma once

#include <seqtrain/hub/dataset_splits.hpp>
#include <seqtrain/hub/fetch.hpp>
#include <seqtrain/hub/fetch_dataset.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/hub/push.hpp>
