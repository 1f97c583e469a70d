#pragma once

#include <seqtrain/serve/contracts/open_inference.hpp>
#include <seqtrain/serve/contracts/read_request.hpp>
#include <seqtrain/serve/contracts/request.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/contracts/torch_serve.hpp>
#include <seqtrain/serve/contracts/vertex.hpp>
#include <seqtrain/serve/http_reader.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/routes.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/serve/server.hpp>
#include <seqtrain/serve/service.hpp>
