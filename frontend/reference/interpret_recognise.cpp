// Recognising a Contract: Sum folds with known extents around a product of two Loads whose indices are affine in the
// block's variables and the folds' variables. Anything else stays on the tape.
#include <algorithm>
#include <utility>

#include "frontend/reference/interpret_compile.h"

namespace cameo::tape {
namespace {

constexpr int64_t kMostTerms = 1 << 18;  // a table of them is kept

/// Without casts that change no value.
Expr strip_exact_casts(Expr e) {
  auto wider = [](DType to, DType from) { return to == DType::f64 || (to == DType::f32 && from != DType::f64); };
  while (e.op() == Op::Cast && is_float(e.arg(0).type()) && wider(e.type(), e.arg(0).type())) e = e.arg(0);
  return e;
}

bool is_sum_of_known_extent(Expr e) {
  return e.op() == Op::Fold && e.fold_kind() == FoldKind::Sum && is_float(e.type()) && e.arg(0).extent().is_const();
}

/// An index that is p / divisor where that is whole and else out of range, as transposed convolutions have it.
struct Divided {
  Expr form;
  int64_t divisor = 1;
};
Divided divided(Expr index) {
  if (index.op() != Op::Select || !index.arg(2).is_const() || index.arg(2).int_value() >= 0) return {index};
  Expr condition = index.arg(0), quotient = index.arg(1);
  if (condition.op() != Op::Eq || !condition.arg(1).is_const(0) || quotient.op() != Op::FloorDiv) return {index};
  Expr rest = condition.arg(0), divisor = quotient.arg(1);
  bool fits = rest.op() == Op::Mod && rest.arg(0) == quotient.arg(0) && rest.arg(1) == divisor && divisor.is_const() &&
              divisor.int_value() > 0;
  return fits ? Divided{quotient.arg(0), divisor.int_value()} : Divided{index};
}

/// Brings the folds that decide what is in range outside; the sum is in double, its order is free.
void order_folds(ContractCode& c) {
  auto decides = [&](size_t f) {
    for (const ContractCode::Side& side : c.side)
      for (const ContractCode::Axis& a : side.axes)
        if (!a.proven && a.fold[f]) return true;
    return false;
  };
  std::vector<size_t> order;
  for (bool deciding : {true, false})
    for (size_t f = 0; f < c.folds.size(); ++f)
      if (decides(f) == deciding) order.push_back(f);
  for (size_t f = 0; f < c.folds.size(); ++f)
    if (!decides(f)) c.inner *= c.folds[f];
  auto permute = [&](std::vector<int64_t>& v) {
    std::vector<int64_t> old = v;
    for (size_t i = 0; i < order.size(); ++i) v[i] = old[order[i]];
  };
  permute(c.folds);
  for (ContractCode::Side& side : c.side)
    for (ContractCode::Axis& a : side.axes) permute(a.fold);
}

}  // namespace

bool Compiler::contract_side(Expr factor, std::span<const Expr> folds, ContractCode::Side& side, bool& one_row,
                             bool& divides) {
  Expr load = strip_exact_casts(factor);
  if (load.op() != Op::Load || !is_float(load.type()) || !load.outside().is_const()) return false;
  side.operand = load.operand();
  side.outside = load.outside().float_value();
  Expr offset = integer(0);
  for (const Access& access : accesses(load)) {
    if (load.checked() && !access.proven) return false;
    auto [form, divisor] = divided(access.index);
    Affine a = affine(form);
    ContractCode::Axis axis{0, access.extent, access.stride, access.proven && divisor == 1, divisor, {}, {}};
    for (Expr v : varying_) axis.lane.push_back(a.stride_of(v).value());
    for (Expr v : folds) axis.fold.push_back(a.stride_of(v).value());
    std::erase_if(a.terms, [&](const Affine::Term& t) {
      return std::ranges::count(varying_, t.term) || std::ranges::count(folds, t.term);
    });
    for (const Affine::Term& t : a.terms)
      if (varies(t.term) || std::ranges::any_of(folds, [&](Expr v) { return needs(t.term, v); })) return false;
    bool moves = std::ranges::any_of(axis.lane, [](int64_t c) { return c != 0; });
    if (divisor != 1 && std::ranges::any_of(axis.lane, [](int64_t c) { return c != 0 && c != 1; })) return false;
    if (divisor != 1 && moves && std::exchange(divides, true)) return false;
    one_row &= axis.proven || !moves;
    if (divisor == 1) offset = offset + access.index * integer(access.stride);
    axis.base = reg(from_affine(a));
    side.axes.push_back(std::move(axis));
  }
  std::vector<Expr> zeros(folds.size(), integer(0));
  one_row = one_row && progression(substitute(offset, folds, zeros));
  return true;
}

bool Compiler::emit_contract(Expr e, size_t scope, uint32_t& out) {
  if (!is_sum_of_known_extent(e)) return false;
  auto code = std::make_unique<ContractCode>();
  std::vector<Expr> folds;
  Expr body = e;
  int64_t terms = 1;
  for (; is_sum_of_known_extent(body); body = body.arg(1)) {
    folds.push_back(body.arg(0));
    code->folds.push_back(body.arg(0).extent().int_value());
    terms *= std::clamp<int64_t>(code->folds.back(), 1, kMostTerms + 1);
    if (terms > kMostTerms || std::ranges::count(folds, body.arg(0)) > 1) return false;
  }
  if (body.op() != Op::Mul) return false;
  bool divides = false;  // an axis that moves has a divisor
  code->one_row = true;
  for (int s = 0; s < 2; ++s)
    if (!contract_side(body.arg(s), folds, code->side[s], code->one_row, divides)) return false;
  order_folds(*code);
  Instr& i = append(e, scope, e.type());
  i.contract = std::move(code);
  out = i.out;
  return true;
}

}  // namespace cameo::tape
