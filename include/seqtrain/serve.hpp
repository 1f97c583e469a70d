#pragma once

#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/http_reader.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/routes.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/serve/server.hpp>
#include <seqtrain/serve/service.hpp>
