// lower_window: a fold whose columns are read along memory (a depthwise convolution, a pool) and whose rows share
// weights or overlap. What it reads outside of a value is asked for as a halo, so that no guard is left in the body.
#include <algorithm>

#include "optimizer/plan/lower_kernel.h"
#include "runtime/kernels/window_shape.h"

namespace cameo {
namespace {

/// The only fold of a value, over one or more variables.
struct WindowMatch {
  Expr fold, body;
  std::vector<Expr> taps;
};
std::optional<WindowMatch> match_window(Expr value) {
  WindowMatch m;
  bool other = false;
  std::vector<Expr> roots{value};
  visit(roots, [&](Expr e) {  // arguments first
    if (e.op() != Op::Fold) return;
    bool around = m.fold && e.arg(1) == m.fold && e.fold_kind() == m.fold.fold_kind();
    other |= m.fold && !around;
    if (!m.fold) m.body = e.arg(1);
    m.fold = e;
  });
  if (!m.fold || other || m.fold.type() != DType::f32 || m.fold.fold_kind() > FoldKind::Max) return std::nullopt;
  for (Expr e = m.fold; e.op() == Op::Fold; e = e.arg(1)) {
    if (!e.arg(0).extent().is_const()) return std::nullopt;
    m.taps.push_back(e.arg(0));
  }
  return m;
}

}  // namespace

std::optional<LoweredKernel> lower_window(const Graph& g, const Layouts& layouts, ValueId output,
                                          const OutputPart& part, const Target& target) {
  if (g.type(output).dtype != DType::f32) return std::nullopt;
  auto m = match_window(part.out.value);
  if (!m) return std::nullopt;
  LoweredKernel l;
  Lowering lowering(g, layouts, l);
  Kernel& k = l.kernel;
  const Layout& layout = layouts[output.index];
  k.axes = axes_in_memory(part.out, layout);
  uint32_t y = lowering.operand({output, layout, {}, {}, {}, {}, {}});
  bool clear = true;
  std::vector<Expr> body{m->body};
  visit(body, [&](Expr e) {
    if (e.op() != Op::Load || guard_of(g.type(ValueId{e.operand()}).shape, e.index()).is_const(1)) return;
    ValueId v{e.operand()};
    auto halo = halo_of(g, e, layouts[v.index]);
    clear &= halo && !g[v].constant;
    if (!clear) return;
    if (auto wide = layouts.haloed.find(v); wide != layouts.haloed.end() && covers(wide->second, *halo))
      halo = wide->second;
    else
      halo->layout = with_halo(extents(g.type(v).shape), halo->order, halo->before, halo->after);
    lowering.operand(std::move(*halo));
  });
  if (!clear) return std::nullopt;
  k.stores.push_back({y, physical(layout, part.at), boolean(true),
                      collapse_folds(lowering.lower(part.out.value, last_moving(k.axes)))});
  drop_unit_axes(k);
  collapse_axes(k, 1);
  if (k.axes.size() < 2) return std::nullopt;

  m = match_window(k.stores[0].value);
  Expr row = k.axes[k.axes.size() - 2], column = k.axes.back();
  std::vector<Expr> lowered{m->body};
  Reads along = reads_along(lowered, column);
  bool guarded = false;
  visit(lowered, [&](Expr e) { guarded |= e.op() == Op::Load && (!e.arg(1).is_const(1) || e.checked()); });
  constexpr int64_t kFewest = 4;  // columns, and taps
  const int64_t taps = points_of(m->taps);
  if (guarded || along.strided || !along.contiguous || column.extent().int_value() < kFewest || taps < kFewest ||
      row.extent().int_value() < 2)
    return std::nullopt;
  k.form = Form::Window;
  k.lanes = rt::kPanel;
  const int64_t rows = row.extent().int_value();
  k.window = {m->fold.fold_kind(), m->taps, m->body,
              target.is_gpu() ? rt::block_window_rows(rows)
                              : rt::window_rows(target.vector_bytes, target.vector_registers, rows)};
  k.stores[0].value =
      rewrite(k.stores[0].value, [&](Expr e) { return e == m->fold ? make(Op::Acc, DType::f32, {}) : e; });
  return l;
}

}  // namespace cameo
