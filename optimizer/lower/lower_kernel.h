// Lowering: what kernel families share when the fused meaning of a cluster becomes a kernel: Loads become Reads, which
// like stores have physical offsets and only the guards that range analysis cannot discharge; axes and folds that walk
// memory together collapse.
#pragma once
#include <map>
#include <optional>

#include "optimizer/layout/assign_layouts.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// How the panels of a product are cut out of a constant: [groups..][columns/16][k..][16], k running over several axes
/// of it.
struct Packing {
  struct Axis {
    int64_t extent, stride;  // elements of the constant
    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> groups;  // each has panels of its own
  Axis column{0, 0};
  std::vector<Axis> k;
  int64_t origin = 0;
  int64_t k_total() const;
  int64_t elements() const;  // of all panels
  bool operator==(const Packing&) const = default;
};
/// Where the panels of a matrix have an element; nullopt where they are not those of all of a matrix of these dims.
std::optional<Expr> packed_offset(const Packing& p, const std::vector<int64_t>& dims, std::span<const Expr> index);

/// What a kernel reads or writes: a value, in a layout that need not be the one it was made in.
struct Operand {
  ValueId value;
  Layout layout;
  std::vector<int> order;  // how the layout was made: the order of the axes and the room around them
  std::vector<int64_t> before, after;
  std::optional<Packing> packing;  // of a constant; `layout` says nothing then
  Expr around;                     // what stands in that room; null where there is none
};
bool has_halo(const Operand& o);
bool covers(const Operand& wide, const Operand& narrow);
/// The room around a value that a Load needs; nullopt where what stands there is no constant, or no range is known.
std::optional<Operand> halo_of(const Graph& g, Expr load, const Layout& made);
bool within_halo(const Graph& g, const Operand& o, Expr load);

struct Layouts {
  std::vector<Layout> made;           // by value: how its kernel leaves it
  std::map<ValueId, Packing> packed;  // constants that stand in a product's panels for their other readers too
  std::map<ValueId, Operand>
      haloed;  // with a constant around: made so, or relaid once for all readers that want some of it
  const Layout& operator[](uint32_t value) const { return made[value]; }
};

/// A region of an output: `out.value` is the element that stands at `at`, an affine image of the variables `out.index`.
struct OutputPart {
  OutputExpr out;
  std::vector<Expr> at;
};
/// The layout of what is copied to `part`, if it were made there at once.
Layout layout_within(const OutputPart& part, const Layout& whole);
/// The regions of an output whose meaning differs by where an axis stands (Concat) or by its remainder (ConvTranspose),
/// each with a meaning that has no such case left; one region where there is nothing to be told apart.
std::vector<OutputPart> split_output(const OutputExpr& out);

struct LoweredKernel {
  Kernel kernel;
  std::vector<Operand> operands;  // first the outputs, then what is read
  /// Not a kernel at all: the output's bytes are those of operand 1, this many elements on.
  std::optional<int64_t> alias_offset;
  /// Where the kernel only copies the whole of operand 1 to: index by index to this part of the output.
  std::optional<OutputPart> copies_to;
};

/// A copy of a value into another layout; what stands around it there is the business of `lower_border`.
LoweredKernel lower_relay(const Graph& g, const Layouts& layouts, const Operand& to, const Target& target);
/// What stands around a value, before that is made: a kernel for each side, or one that fills all of its place.
std::vector<LoweredKernel> lower_border(const Graph& g, const Operand& to, const Target& target);

// Shared by the families.

/// Lowers Loads of whole values to Reads at offsets in their layouts, and collects the operands.
class Lowering {
 public:
  Lowering(const Graph& g, const Layouts& layouts, LoweredKernel& out) : g_(g), layouts_(layouts), out_(out) {}
  uint32_t operand(Operand o);  // its number; the first one of a value says its layout
  Expr lower(Expr root, Expr lanes);

 private:
  Operand operand_for(ValueId v, Expr load, Expr lanes);
  const Graph& g_;
  const Layouts& layouts_;
  LoweredKernel& out_;
  std::map<ValueId, uint32_t> numbers_;
};

/// Counts what the lanes of `v` would read: `strided` loads move by more than one element a lane.
struct Reads {
  int contiguous = 0, strided = 0;
};
Reads reads_along(std::span<const Expr> roots, Expr v);
/// The output's axes from the outermost in memory to the innermost, and the last one that has more than one index.
std::vector<Expr> axes_in_memory(const OutputExpr& out, const Layout& layout);
Expr last_moving(const std::vector<Expr>& axes);
Expr guard_of(const Shape& shape, std::span<const Expr> index);
/// What the error of an index that is outside may have to name, three expressions for each axis that is not proven: the
/// index as the data has it, which may count from the end, the same counted from 0, and the extent.
std::vector<Expr> blamed_axes(const Shape& shape, std::span<const Expr> index);
int64_t points_of(std::span<const Expr> axes);  // the product of their extents
void drop_unit_axes(Kernel& k);
void split_axes(Kernel& k);  // where an index is divided by a constant, so that what is left is affine
void collapse_axes(Kernel& k,
                   size_t keep_last);  // all neighbours that walk memory together, but never the last `keep_last`
Expr collapse_folds(Expr root);
Expr split_axis(Kernel& k, size_t i, int64_t block);  // into two, the inner one of `block` points; gives the outer one
bool has_folds(const Kernel& k);
std::vector<Expr> folds_in(std::vector<Expr> roots);
/// The variables of nested folds of one kind, outermost first, and what they fold.
struct FoldNest {
  std::vector<Expr> variables;
  Expr body;
};
FoldNest unfold(Expr fold);
/// Chooses how a nest is run that copies a value or fills a border.
void choose_nest(Kernel& k, const Target& target);
/// A value row-major, as what reads whole tensors wants it.
Operand plain_operand(const Graph& g, ValueId v);
/// Whether all that a kernel reads and writes along its last axis are groups of so many neighbours, which begin at a
/// multiple of them.
bool moves_together(const Kernel& k, int64_t lanes);
/// Takes the least of its offsets out of all of them, for each operand; gives it in elements.
std::vector<int64_t> take_origins(Kernel& k);

}  // namespace cameo
