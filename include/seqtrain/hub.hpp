#pragma once

#include <seqtrain/hub/cache.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/dataset_card.hpp>
#include <seqtrain/hub/dataset_name.hpp>
#include <seqtrain/hub/dataset_splits.hpp>
#include <seqtrain/hub/fetch.hpp>
#include <seqtrain/hub/fetch_dataset.hpp>
#include <seqtrain/hub/glob.hpp>
#include <seqtrain/hub/known_datasets.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/hub/settings.hpp>
#include <seqtrain/hub/split_names.hpp>
#include <seqtrain/hub/yaml.hpp>
