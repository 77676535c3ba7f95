// lower_contract: the sum of products becomes two affine offsets. `a` is asked for in a layout whose innermost axis is
// summed, with a halo of zeros as wide as the window reaches out, so that no guard is left; a constant `b` is packed in
// panels, its k running over the folds in the order in which they walk `a`. A processor widens `a` where it is made; a
// GPU reads 16-bit floats as they stand, and has tensor cores for products of two alike. Its tile is one that both
// operands are brought to, through shared memory, where that is large both ways.
#include <algorithm>
#include <map>

#include "frontend/check.h"
#include "optimizer/plan/lower_kernel.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

bool is_fold(const ContractMatch& m, Expr v) { return std::ranges::find(m.folds, v) != m.folds.end(); }

/// The axis of `a` whose index is a fold variable and nothing else: the one that is best summed contiguously.
int summed_axis(const ContractMatch& m, const Layout& made) {
  int best = -1;
  for (size_t d = 0; d < m.a.index().size(); ++d)
    if (is_fold(m, m.a.index()[d]) && (best < 0 || made.pitch[d] < made.pitch[best])) best = static_cast<int>(d);
  return best;
}

/// How `a` must stand: as it was made if that will do, else with the summed axis last and a halo.
std::optional<Operand> layout_of_a(const Graph& g, const Layouts& layouts, const ContractMatch& m) {
  ValueId v{m.a.operand()};
  int last = summed_axis(m, layouts[v.index]);
  if (last < 0) return std::nullopt;
  std::optional<Operand> a = halo_of(g, m.a, layouts[v.index]);
  if (a && a->around && a->around.float_value() != 0) return std::nullopt;
  if (!a || (!has_halo(*a) && a->layout.pitch[last] == 1)) return a;
  if (auto wide = layouts.haloed.find(v);
      wide != layouts.haloed.end() && wide->second.layout.pitch[last] == 1 && covers(wide->second, *a))
    return wide->second;
  std::erase(a->order, last);
  a->order.push_back(last);
  a->layout = with_halo(extents(g.type(v).shape), a->order, a->before, a->after);
  return a;
}

/// A fold that walks `a` backwards (a transposed convolution's taps) is counted from its end.
void turn_folds(ContractMatch& m, const Operand& a) {
  for (Expr& f : m.folds) {
    if (affine(physical(a.layout, m.a.index())).coefficient_of(f) >= 0) continue;
    Expr back = var(f.extent());
    std::vector<Expr> from{f}, to{f.extent() - integer(1) - back};
    m.a = substitute(m.a, from, to);
    m.b = substitute(m.b, from, to);
    f = back;
  }
}
/// The folds from the one with the longest stride in `a` to the one that is contiguous.
void sort_folds(ContractMatch& m, Expr a_offset) {
  Affine a = affine(a_offset);
  std::stable_sort(m.folds.begin(), m.folds.end(),
                   [&](Expr x, Expr y) { return a.coefficient_of(x) > a.coefficient_of(y); });
}

Expr linear(std::span<const Expr> vars) {
  Expr at = integer(0);
  for (Expr v : vars) at = at * v.extent() + v;
  return at;
}

/// The panels of a constant whose element is affine in the column and the folds alone; nullopt where it is not.
std::optional<Packing> packing_of(Expr offset, Expr column, const std::vector<Expr>& folds) {
  Affine at = affine(offset);
  Packing p{{column.extent().int_value(), at.coefficient_of(column)}, {}, at.constant};
  for (Expr f : folds) p.k.push_back({f.extent().int_value(), at.coefficient_of(f)});
  for (const Affine::Term& t : at.terms)
    if (t.term != column && std::ranges::find(folds, t.term) == folds.end()) return std::nullopt;
  return p;
}

/// Fewer columns than a panel has run it partly empty: a single one only where folding a contiguous run in lanes is no
/// better.
bool worth_tiles(int64_t n, int64_t k_total, int64_t run, bool packed) {
  constexpr int64_t kShortRun = 128;
  return k_total >= 4 && (n >= (packed ? 2 : 8) || (packed && run <= kShortRun));
}

bool affine_in(Expr offset, const std::vector<Expr>& vars) {
  for (const Affine::Term& t : affine(offset).terms)
    if (std::ranges::find(vars, t.term) == vars.end()) return false;
  return true;
}

/// Few rows are a matter of reading `b` once, which many threads do better. Tensor cores are worth a tile that is
/// partly empty.
bool worth_staging(const Kernel& k, int64_t m, int64_t n, int64_t k_total) {
  const DType a = k.operands[k.sum.a];
  if (a != k.operands[k.sum.b]) return false;
  return a == DType::f32 ? m >= 16 && n >= 24 && k_total >= 16 : m > 4 && n >= 8 && k_total >= 16;
}

/// Neighbouring columns that a thread of a staged tile takes from its sums at once: 16 bytes of f32.
int lanes_of_epilogue(const Kernel& k) {
  constexpr int kLanes = 4;
  const bool wide = std::ranges::any_of(k.operands, [](DType t) { return byte_size(t) > 4; });
  return !wide && k.axes.back().extent().int_value() % kLanes == 0 && moves_together(k, kLanes) ? kLanes : 1;
}

void choose_tile(Kernel& k, const Target& target, int64_t m, int64_t n, int64_t k_total) {
  ContractSum& c = k.sum;
  if (!target.is_gpu()) {
    const rt::Tile tile = rt::contract_tile(target.vector_bytes, target.vector_registers, m, n);
    c.rows_per_tile = tile.rows;
    c.vectors_per_tile = tile.vectors;
    return;
  }
  const int64_t points = points_of(std::span(k.axes).first(k.axes.size() - (c.has_row ? 2 : 1)));
  const int64_t batches = c.packed ? 1 : points, rows = c.packed ? points * m : m;
  if (worth_staging(k, rows, n, k_total)) {
    const int bytes = byte_size(k.operands[c.a]);
    const rt::StagedTile tile = rt::staged_tile(target.processors, batches, rows, n, bytes);
    c.rows_per_tile = tile.rows;
    c.vectors_per_tile = tile.vectors;
    c.staged = true;
    return;
  }
  const rt::BlockTile tile = rt::block_tile(target.block_threads, target.processors, points, m, n, k_total);
  c.rows_per_tile = tile.rows;
  c.vectors_per_tile = tile.vectors;
  c.term_groups = tile.term_groups;
}

/// Whether a value calls exp or its kin.
bool calls_function(Expr value) {
  std::vector<Expr> roots{value};
  bool found = false;
  visit(roots, [&](Expr e) { found |= e.op() >= Op::Exp && e.op() <= Op::Pow; });
  return found;
}
}  // namespace

int64_t Packing::k_total() const {
  int64_t total = 1;
  for (const Axis& a : k) total *= a.extent;
  return total;
}

std::optional<Expr> packed_offset(const Packing& p, const std::vector<int64_t>& dims, std::span<const Expr> index) {
  if (dims.size() != 2 || p.k.size() != 1 || p.origin != 0) return std::nullopt;
  const Packing::Axis down{dims[0], dims[1]}, along{dims[1], 1};
  const bool transposed = p.column == down && p.k[0] == along;
  if (!transposed && !(p.column == along && p.k[0] == down)) return std::nullopt;
  const Expr column = index[transposed ? 0 : 1], k = index[transposed ? 1 : 0], panel = integer(rt::kPanel);
  return simplify_index((floor_div(column, panel) * integer(p.k_total()) + k) * panel + mod(column, panel));
}

std::optional<LoweredKernel> lower_contract(const Graph& g, const Layouts& layouts, ValueId output,
                                            const OutputPart& part, const Target& target) {
  const OutputExpr& out = part.out;
  auto match = match_contract(g, out);
  if (!match) return std::nullopt;
  ContractMatch& m = *match;
  Expr column = out.index[m.n_axis];
  int64_t k_total = 1;
  for (Expr f : m.folds) {
    if (!f.extent().is_const()) return std::nullopt;
    k_total *= f.extent().int_value();
  }
  int64_t n = column.extent().int_value();
  auto a = layout_of_a(g, layouts, m);
  if (!a || (m.a.type() != DType::f32 && !target.is_gpu())) return std::nullopt;
  Expr loads_a = m.a, loads_b = m.b;
  turn_folds(m, *a);
  Expr a_offset = physical(a->layout, m.a.index());
  sort_folds(m, a_offset);

  // b: packed panels if it is a constant, else as it stands
  ValueId b{m.b.operand()};
  if (!guard_of(g.type(b).shape, m.b.index()).is_const(1)) return std::nullopt;
  Operand b_operand{b, layouts[b.index], {}, {}, {}, {}, {}};
  Expr b_offset = physical(b_operand.layout, m.b.index());
  if (g[b].constant) b_operand.packing = packing_of(b_offset, column, m.folds);
  bool packed = b_operand.packing.has_value();
  if (!packed && m.b.type() != DType::f32 && !target.is_gpu()) return std::nullopt;
  if (!worth_tiles(n, k_total, m.folds.back().extent().int_value(), packed)) return std::nullopt;
  if (packed) b_offset = column * integer(k_total) + linear(m.folds);

  LoweredKernel l;
  Kernel& k = l.kernel;
  k.form = Form::Contract;
  std::map<ValueId, uint32_t> numbers;
  auto operand = [&](Operand o) {
    l.operands.push_back(std::move(o));
    k.operands.push_back(g.type(l.operands.back().value).dtype);
    return static_cast<uint32_t>(l.operands.size() - 1);
  };
  const Layout& y_layout = layouts[output.index];
  uint32_t y = operand({output, y_layout, {}, {}, {}, {}, {}});
  uint32_t a_number = operand(*a), b_number = operand(b_operand);
  Expr yes = boolean(true);
  Expr weight = load_lowered(b_number, m.b.type(), b_offset, yes, zero(m.b.type()));
  Expr element = load_lowered(a_number, m.a.type(), a_offset, yes, zero(m.a.type()));
  Expr sum = cast(element, DType::f32) * cast(weight, DType::f32);
  for (size_t i = m.folds.size(); i-- > 0;) sum = fold(FoldKind::Sum, m.folds[i], sum);
  Expr value = rewrite(out.value, [&](Expr e) -> Expr {
    if (e == m.sum) return sum;
    if (e.op() != Op::Load || e == loads_a || e == loads_b) return e;
    ValueId v{e.operand()};
    auto [it, fresh] = numbers.try_emplace(v, 0u);
    if (fresh) it->second = operand({v, layouts[v.index], {}, {}, {}, {}, {}});
    return load_lowered(it->second, e.type(), physical(layouts[v.index], e.index()),
                        guard_of(g.type(v).shape, e.index()), e.outside());
  });

  // axes in memory order with the column last, whatever the output's layout
  for (int axis : order_of(y_layout))
    if (axis != m.n_axis) k.axes.push_back(out.index[axis]);
  k.axes.push_back(column);
  k.stores.push_back({y, physical(y_layout, part.at), yes, collapse_folds(value)});
  drop_unit_axes(k);
  collapse_axes(k, 1);

  // read the sum off what collapsing left
  Expr outer;
  std::vector<Expr> roots{k.stores[0].value};
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Fold) outer = e;
  });
  Expr body = outer;
  for (; body.op() == Op::Fold; body = body.arg(1)) k.sum.segments.push_back(body.arg(0));
  k.sum.k = k.sum.segments.back();
  k.sum.segments.pop_back();
  auto factor = [&](size_t i) { return body.arg(i).op() == Op::Cast ? body.arg(i).arg(0) : body.arg(i); };
  const size_t first = factor(0).operand() == a_number ? 0 : 1;
  k.sum.a = a_number;
  k.sum.b = b_number;
  k.sum.a_offset = factor(first).arg(0);
  k.sum.b_offset = factor(1 - first).arg(0);
  k.sum.packed = packed;
  // rows are an axis that b does not have; what both operands have is a batch
  Affine b_affine = affine(k.sum.b_offset);
  for (size_t i = k.axes.size() - 1; i-- > 0 && !k.sum.has_row;) {
    if (b_affine.coefficient_of(k.axes[i]) != 0) continue;
    std::rotate(k.axes.begin() + static_cast<long>(i), k.axes.begin() + static_cast<long>(i) + 1, k.axes.end() - 1);
    k.sum.has_row = true;
  }
  int64_t m_total = k.sum.has_row ? k.axes[k.axes.size() - 2].extent().int_value() : 1;
  choose_tile(k, target, m_total, n, k_total);
  if (!packed && !k.sum.segments.empty()) return std::nullopt;
  std::vector<Expr> vars = k.axes;
  vars.insert(vars.end(), k.sum.segments.begin(), k.sum.segments.end());
  vars.push_back(k.sum.k);
  if (!affine_in(k.sum.a_offset, vars) || !affine_in(k.sum.b_offset, vars) ||
      affine(k.sum.a_offset).coefficient_of(k.sum.k) != 1)
    return std::nullopt;
  for (Store& s : k.stores)
    s.value = rewrite(s.value, [&](Expr e) { return e == outer ? make(Op::Acc, DType::f32, {}) : e; });
  k.sum.in_registers = target.is_gpu() || (k_total <= rt::kSumBlock && !calls_function(k.stores[0].value));
  k.lanes = k.sum.staged ? lanes_of_epilogue(k) : rt::kPanel;
  k.scratch_bytes = packed || target.is_gpu()
                        ? 0
                        : rt::contract_scratch_bytes({k.sum.rows_per_tile, k.sum.vectors_per_tile}, k_total);
  return l;
}

}  // namespace cameo
