// bind_dims: a model's graph with symbolic dims replaced by numbers; every node is typed anew, so all that follows from
// the numbers becomes static. The first row of the pipeline, once for each bucket.
#pragma once
#include <map>
#include <string>

#include "frontend/ir/graph.h"

namespace cameo {

using DimBinding = std::map<std::string, int64_t>;

Expr bind_symbols(Expr e, const DimBinding& dims);
Type bind_symbols(const Type& t, const DimBinding& dims);
Graph bind_dims(const Graph& g, const DimBinding& dims);

}  // namespace cameo
