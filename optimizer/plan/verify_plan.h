// verify_plan: what the last waypoints promise. Layouts cover their elements, each once; in a plan no two buffers that
// live at once overlap, every operand stands where bytes are, every jump lands, and steps that run side by side share
// nothing that one of them writes. What is said names the value or the step.
#pragma once
#include <string>
#include <vector>

#include "frontend/ir/layout.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// From here on layouts are fixed: one for each value of the graph.
std::vector<std::string> verify_layouts(const Graph& g, const std::vector<Layout>& layouts);

/// From here on every byte has an address.
std::vector<std::string> verify_groups(const Plan& plan);  // a part of:
std::vector<std::string> verify_plan(const Plan& plan, const Interface& io, int64_t weights_bytes);

}  // namespace cameo
