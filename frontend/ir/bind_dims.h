// bind_dims: a model's graph with symbolic dims replaced by numbers, or by symbols with bounds; every node is typed
// anew, so all that follows becomes static, or known to lie within bounds.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "frontend/ir/graph.h"

namespace cameo {

using DimBinding = std::map<std::string, int64_t>;
using DimBounds = std::map<std::string, Interval>;
using SymbolBinding = std::function<Expr(Expr symbol)>;

/// The numbers in place of the symbols of these names; others stay. `dims` outlives it.
SymbolBinding numbers(const DimBinding& dims);
/// The expression with its symbols replaced; what is made of constants alone then is a number, by way of floating ones
/// too.
Expr bind_symbols(Expr e, const SymbolBinding& binding);
Expr bind_symbols(Expr e, const DimBinding& dims);
Type bind_symbols(const Type& t, const DimBinding& dims);
Type bind_symbols(const Type& t, const SymbolBinding& binding);
Graph bind_dims(const Graph& g, const SymbolBinding& binding);
Graph bind_dims(const Graph& g, const DimBinding& dims);
/// Symbols of these names within these bounds.
Graph bound_dims(const Graph& g, const DimBounds& bounds);

}  // namespace cameo
