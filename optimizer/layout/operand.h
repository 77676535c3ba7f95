// How values stand in memory: as their kernels leave them, and as the kernels that read them would like them.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "frontend/ir/graph.h"
#include "frontend/ir/layout.h"

namespace cameo {

/// How a panel has the terms of its columns: one after another; four or two side by side (contract_shape.h); the taps
/// that the last axis of `k` counts in quads (depthwise_shape.h); two in a byte, of numbers below 16.
enum class PanelForm : uint8_t { Terms, Quads, Pairs, Taps, Nibbles };

/// Elements of a matrix of so many columns and terms in panels. `run`: as Packing has it; not of taps.
int64_t elements_of_panels(PanelForm form, int64_t columns, int64_t terms, int64_t run);

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
  int64_t base_offset = 0;
  PanelForm form = PanelForm::Terms;
  int64_t run = 0;  // of quads and pairs: the terms of a segment; of taps: their shifts
  int64_t k_total() const;
  int64_t elements() const;  // of all panels
  bool operator==(const Packing&) const = default;
};
/// Where the panels of a constant have an element: `term` counts the terms of the sum, of which there are `terms`.
Expr panel_offset(Expr column, Expr term, int64_t terms);
/// The same of quads and of pairs: `term` counts those of a segment, of which each panel has `segments` of `terms`.
Expr quad_offset(Expr column, Expr segment, Expr term, int64_t segments, int64_t terms);
Expr pair_offset(Expr column, Expr segment, Expr term, int64_t segments, int64_t terms);
/// The same of taps, of which each segment has so many.
Expr tap_offset(Expr column, Expr segment, Expr tap, int64_t segments, int64_t taps, int64_t shifts);
/// Where the panels of a matrix have an element; nullopt where they are not those of all of a matrix of these dims.
std::optional<Expr> packed_offset(const Packing& p, const std::vector<int64_t>& dims, std::span<const Expr> index);

/// What a kernel reads or writes: a value, in a layout that need not be the one it was made in.
struct Operand {
  ValueId value;
  Layout layout;
  std::vector<int> order = {};  // how the layout was made: the order of the axes and the room around them
  std::vector<int64_t> before = {}, after = {};
  std::optional<Packing> packing = {};  // of a constant; `layout` says nothing then
  Expr border_value = {};               // what stands in that room; null where there is none
};
/// A value row-major, as what reads whole tensors wants it.
Operand plain_operand(const Graph& g, ValueId v);
/// A value in an order of its axes, the last one innermost.
Operand in_order(const Graph& g, ValueId v, std::vector<int> order);
std::vector<int> with_last(std::vector<int> order, int axis);
/// The order of the axes that have more than one index.
std::vector<int> moving_order(const Shape& shape, std::vector<int> order);

/// Whether an index lies within an extent, or within all dims of a shape: as far as ranges prove it a constant.
Expr is_within(Expr index, Expr extent);
Expr guard_of(const Shape& shape, std::span<const Expr> index);

// ---- room around values
bool has_halo(const Operand& o);
bool covers(const Operand& wide, const Operand& narrow);
/// The room around a value that a Load needs; nullopt where what stands there is no constant, or no range is known.
std::optional<Operand> halo_of(const Graph& g, Expr load, const Layout& made);
bool within_halo(const Graph& g, const Operand& o, Expr load);

/// The layouts of a graph's values.
struct Layouts {
  struct Alias {
    ValueId of;
    int64_t offset = 0;  // elements
  };
  std::vector<Layout> made;            // by value: how its kernel leaves it
  std::map<ValueId, Packing> packed;   // constants that stand in a product's panels for their other readers too
  std::map<ValueId, Operand> haloed;   // with a constant around: made so, or copied once for all that want some of it
  std::map<ValueId, Alias> aliases;    // values whose bytes are those of another one as it stands: no kernel makes them
  std::map<ValueId, ValueId> windows;  // values that are made where another one wants them: regions of its buffer
  const Layout& operator[](uint32_t value) const { return made[value]; }
};
/// The value as it was made.
Operand as_made(const Layouts& layouts, ValueId v);
/// A constant in panels.
Operand in_panels(const Layouts& layouts, ValueId v, const Packing& packing);
/// An operand that was wished for as it stands now: as the value was made, or relaid for several readers, or in a copy
/// of its own.
Operand granted(const Graph& g, const Layouts& layouts, const Operand& wish);

}  // namespace cameo
