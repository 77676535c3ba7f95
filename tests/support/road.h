// The road up to the plan as tests walk it, and what comes of it compared with the interpreter.
#pragma once
#include <span>
#include <string>

#include "frontend/reference/interpret.h"
#include "optimizer/plan/plan.h"

namespace cameo::test {

/// Throw the first CompileError.
Module plan_graph(const Graph& g, const std::string& name = "model", const Target& target = native_target(),
                  const std::vector<std::string>& on_host = {});
Module plan_optimized(const Graph& g, const std::string& name, const Target& target,
                      const std::vector<std::string>& on_host = {}, const std::vector<Claim>& claims = {});

/// A named target whose caches hold next to nothing: small models have chains of kernels in strips.
Target with_small_caches(std::string_view name);

/// Sizes that only the data knows, and element types without arithmetic, are not compiled yet; all else must be.
bool may_be_refused(const Graph& g, Code code);

/// What is wrong with computed outputs, by the rule of frontend/reference/compare.h; empty when nothing is.
std::string differences(std::span<const Tensor> got, const Interpretation& want);

}  // namespace cameo::test
