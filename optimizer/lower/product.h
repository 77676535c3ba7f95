// A sum of products as a kernel: out(outer.., row, column) = epilogue(sum of a * b), with `a` walked along memory and a
// constant `b` in panels. What the families that compute one in tiles share.
#pragma once
#include "optimizer/layout/sum_of_products.h"
#include "optimizer/lower/lower_kernel.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {

// ---- operands -------------------------------------------------------------------------------------------------------
/// How `a` should stand: as it was made if that will do, else with a summed axis last and a halo of zeros. Beside the
/// variable that is summed, the index of that axis may have axes of the output in `shared`.
std::optional<Operand> wish_for_a(const Graph& g, const Layouts& layouts, const ProductMatch& m,
                                  std::span<const Expr> shared = {});
/// The same with this axis last.
std::optional<Operand> wish_for_axis(const Graph& g, const Layouts& layouts, const ProductMatch& m, int last);
/// A fold that walks `a` backwards (a transposed convolution's taps) is counted from its end; then the folds go from
/// the one with the longest stride in `a` to the one with the shortest.
void order_folds(ProductMatch& m, const Operand& a);
/// `b` in panels; none where it is no constant, or its elements do not stand affinely in these variables alone.
std::optional<Packing> packing_of(const Graph& g, const Layouts& layouts, const ProductMatch& m,
                                  std::span<const Expr> groups, Expr column);

// ---- kernel ---------------------------------------------------------------------------------------------------------
/// Whether neighbours of the axes, or of the sum's variables, that walk memory together become one.
enum class Walks { Together, Apart };
/// The kernel without family and choice, its column the last axis. Its operands are the output, `a`, `b` and what the
/// epilogue reads.
LoweredKernel lower_product(const Graph& g, const Layouts& layouts, ValueId output, const OutputPart& part,
                            const ProductMatch& m, const Operand& a, const Operand& b, std::vector<Expr> axes,
                            std::span<const Expr> groups = {}, Walks walks = Walks::Together);
/// Takes the sum out of the only store's value; the last axis that `b` does not have comes before the column. False
/// where the operands' offsets are not affine in axes, variables of the sum and `term`, or the last variable does not
/// walk `a`.
bool take_sum(Kernel& k, Expr term = {});
/// Where only a run knows how many rows there are, they become the axis without `b` that likely has most points: a tile
/// of one row, as a batch of one leaves it, takes B's panels anew for each.
void take_most_rows(Kernel& k);
/// What a family's choice says of `b` as `packed`: how many terms of a column stand side by side in its panels, of
/// which it has none as it was made.
inline constexpr int64_t kInPanelsOfPairs = rt::kPair;
/// Until then a packed `b` is a matrix of rows of terms, one after another for each group: its panels are put in its
/// place.
void put_panels(Kernel& k);

/// The parts of a kernel whose sum has been taken. Offsets are affine in the axes and the variables of the sum, but b's
/// where it is packed; k has coefficient 1 in a's.
struct Product {
  static constexpr uint32_t kOutput = 0, kA = 1, kB = 2;  // operands
  explicit Product(const Kernel& kernel);
  // how many there are likely to be, where only a run knows
  int64_t m() const { return row ? Dim(row.extent()).estimate() : 1; }
  int64_t n() const { return Dim(column.extent()).estimate(); }
  int64_t terms() const { return points_of(segments) * Dim(k.extent()).estimate(); }
  int64_t batches() const { return points_of(outer); }
  /// Whether more than a block of terms is summed block by block. Integers are exact, and bf16 has lost more already.
  bool takes_blocks() const { return !zero && !in_pairs; }
  /// Whether tiles of known columns have every height.
  bool has_any_rows() const { return row && !row.extent().is_const() && column.extent().is_const(); }

  std::vector<Expr> segments;  // variables of the sum, outermost first
  Expr k;                      // the innermost one
  Expr a_offset, b_offset;
  bool in_pairs = false;  // `b` stands so, and both are bf16
  Expr zero;              // of 8-bit elements of `a`; null where they are floats
  std::span<const Expr> outer;
  Expr row, column;  // row is null where the output has no axis beside the column's
};

}  // namespace cameo
