// Lowering: what kernel families share when the fused meaning of a cluster becomes a kernel: Loads become Reads, which
// like stores have physical offsets and only the guards that range analysis cannot discharge; axes and folds that walk
// memory together collapse.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "optimizer/layout/regions.h"
#include "optimizer/plan/plan.h"

namespace cameo {

struct LoweredKernel {
  Kernel kernel;
  std::vector<Operand> operands;  // first the outputs, then what is read
};

/// A copy of a value into another layout; what stands around it there is the business of `lower_border`.
LoweredKernel lower_relayout(const Graph& g, const Layouts& layouts, const Operand& to, const Target& target);
/// What stands around a value, before that is made: a kernel for each side, or one that fills all of its place.
std::vector<LoweredKernel> lower_border(const Graph& g, const Operand& to, const Target& target);

/// What an input or output takes as callers have it: elements of 4 and 2 bits are packed.
Dim packed_bytes(const Type& type);
/// Kernels between such bytes and a byte an element, both row-major: operand 0 is what is written.
LoweredKernel lower_unpack(const Type& type, const Target& target);
LoweredKernel lower_pack(const Type& type, const Target& target);

// Shared by the families.

/// What a Load reads, for lanes that run along an axis: a constant is laid out such that this axis comes last, a value
/// stands as it was made, or as it is relaid for a kernel that wishes for this axis there.
Operand operand_along(const Graph& g, const Layouts& layouts, Expr load, Expr lanes);

/// Lowers Loads of whole values to Reads at offsets in their layouts, and collects the operands.
class Lowering {
 public:
  Lowering(const Graph& g, const Layouts& layouts, LoweredKernel& out) : g_(g), layouts_(layouts), out_(out) {}
  uint32_t operand(Operand o);  // its number; the first one of a value says its layout
  /// `lanes`: the axis along which constants should stand; null if that is all one.
  Expr lower(Expr root, Expr lanes);

 private:
  const Graph& g_;
  const Layouts& layouts_;
  LoweredKernel& out_;
  std::map<ValueId, uint32_t> numbers_;
};

/// Counts what the lanes of `v` would read: `strided` loads move by more than one element a lane.
struct Reads {
  int contiguous = 0, strided = 0;
  void count(Expr offset, Expr v);
};
Reads reads_along(std::span<const Expr> roots, Expr v);
/// A sum of these variables, each times numbers and sizes, and of a number or size.
bool is_affine_in(const Affine& offset, std::span<const Expr> variables);
/// The output's axes from the outermost in memory to the innermost, and the last one that has more than one index.
std::vector<Expr> axes_in_memory(const OutputExpr& out, const Layout& layout);
Expr last_moving(const std::vector<Expr>& axes);
/// What the error of an index that is outside may have to name, three expressions for each axis that is not proven: the
/// index as the data has it, which may count from the end, the same counted from 0, and the extent.
std::vector<Expr> blamed_axes(const Shape& shape, std::span<const Expr> index);
int64_t points_of(std::span<const Expr> axes);  // the product of their extents, as far as they are known
void drop_unit_axes(Kernel& k);
void split_axes(Kernel& k);  // where an index is divided by a number or a size, so that what is left is affine
void collapse_axes(Kernel& k,
                   size_t keep_last);  // all neighbours that walk memory together, but never the last `keep_last`
Expr collapse_folds(Expr root);
Expr split_axis(Kernel& k, size_t i, Expr block);  // into two, the inner one of `block` points; gives the outer one
bool has_folds(const Kernel& k);
std::vector<Expr> folds_in(std::vector<Expr> roots);
/// Chooses how a nest is run that copies a value or fills a border.
void choose_nest(Kernel& k, const Target& target);
/// Whether all that a kernel reads and writes along its last axis are groups of so many neighbours, which begin at a
/// multiple of them.
bool moves_together(const Kernel& k, int64_t lanes);
/// Every expression of a kernel, which `f` may change: axes, and of each store offset, guard, value and what it blames.
void each_expression(Kernel& k, const std::function<void(Expr&)>& f);
std::vector<Expr> expressions_of(const Kernel& k);  // in that order
/// All that an operand is read or written at; what a guard never lets through is not.
void each_offset(const Kernel& k, const std::function<void(uint32_t operand, Expr offset, Expr guard)>& f);
/// The least of a kernel's offsets, for each operand, in elements.
std::vector<int64_t> base_offsets_of(const Kernel& k);
/// Takes it out of all of them.
std::vector<int64_t> take_base_offsets(Kernel& k);
/// By operand: how many elements an index of the outermost axis, of a known extent, is behind the one before it;
/// nullopt where indices differ in more than that.
std::optional<std::vector<int64_t>> steps_of_outermost(const Kernel& k);
/// The kernel for the first `extent` indices of that axis: for others, its operands begin so many steps later.
Kernel take_strip(Kernel k, int64_t extent);

}  // namespace cameo
