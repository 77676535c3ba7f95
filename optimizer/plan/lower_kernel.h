// Lowering: the fused meaning of a cluster becomes a kernel: Loads and stores get physical offsets and only the guards that
// range analysis cannot discharge, axes and folds that walk memory together collapse, and one axis is chosen for the lanes.
#pragma once
#include <optional>

#include "optimizer/annotate/assign_layouts.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// What a kernel reads or writes: a value, in a layout that need not be the one it was made in.
struct Operand {
  ValueId value;
  Layout layout;
  std::vector<int> order;               // how the layout was made: the order of the axes and the room around them
  std::vector<int64_t> before, after;
  int64_t panel_columns = 0, panel_k = 0;  // a constant packed as [columns/16][k][16]; `layout` then gives [column][k]
};

struct LoweredKernel {
  Kernel kernel;
  std::vector<Operand> operands;  // first the outputs, then what is read
  /// Not a kernel at all: the output's bytes are those of operand 1, this many elements on.
  std::optional<int64_t> alias_offset;
};

using Layouts = std::vector<Layout>;  // by value

LoweredKernel lower_nest(const Graph& g, const Layouts& layouts, ValueId output, const OutputExpr& out);
/// nullopt where the sum is no Contract, or too small to be worth one.
std::optional<LoweredKernel> lower_contract(const Graph& g, const Layouts& layouts, ValueId output, const OutputExpr& out, const Target& target);
/// The updates of a Scatter, one after another; its start is a kernel of its own that ran before.
LoweredKernel lower_scatter(const Graph& g, const Layouts& layouts, const Node& n, const Scatter& s);
/// A copy of `value` into another layout, with zeros around it.
LoweredKernel lower_relay(const Graph& g, const Layouts& layouts, const Operand& to);

// Shared by the forms.
Expr guard_of(const Shape& shape, std::span<const Expr> index);
Expr load_lowered(uint32_t operand, DType t, Expr offset, Expr guard, Expr outside, bool checked = false);
void drop_unit_axes(Kernel& k);
void collapse_axes(Kernel& k, size_t keep_last);  // all neighbours that walk memory together, but never the last `keep_last`
Expr collapse_folds(Expr root);

}  // namespace cameo
