// The worker's side of worker.h, and how a job is written down.
#pragma once

#include <string>
#include <string_view>

#include "codegen/build/outcome.h"
#include "codegen/build/worker.h"

namespace cameo {

constexpr std::string_view kWorkerArgument = "--cameo-build-worker";

Outcome perform(const Job& job);  // in this process
std::string encode_job(const Job& job);
Job decode_job(std::string_view bytes);
std::string encode_outcome(const Outcome& outcome);
Outcome decode_outcome(std::string_view bytes);

}  // namespace cameo
