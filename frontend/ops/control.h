// What the control operators share: the common type of two values that stand for one, and what is known of a body's
// outputs outside of it.
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"

namespace cameo::ops {

inline Dim join(Infer& n, const Dim& a, const Dim& b) {
  if (a == b) return a;
  return n.fresh(a.upper() == kOpen || b.upper() == kOpen ? kOpen : std::max(a.upper(), b.upper()));
}

inline Type join(Infer& n, const Type& a, const Type& b) {
  if (a.kind == Kind::Error || b.kind == Kind::Error) return Type::error();
  if (a == b) return a;
  if (const auto common = a.is_list() ? common_element(a, b) : std::nullopt) return *common;
  if (a.kind != b.kind || a.dtype != b.dtype || a.kind != Kind::Tensor)
    n.fail(Code::E0301, fmt::format("one output is {} on one way and {} on the other", to_string(a), to_string(b)));
  if (a.rank() != b.rank())
    n.fail(Code::E0402,
           fmt::format("one output is {} on one way and {} on the other: two ranks", to_string(a), to_string(b)),
           "where the condition compares a size, a number or another range for it decides it: --dim NAME=2..8");
  Shape s;
  for (int i = 0; i < a.rank(); ++i) s.push_back(join(n, a.shape[i], b.shape[i]));
  return Type(a.dtype, s);
}

/// The type of a body's output where it is used: of a size that the body computes only the body knows.
inline Type type_outside(Infer& n, const Graph& body, size_t output) {
  std::vector<Expr> own;
  for (ValueId v : deciding_values(body))
    for (Expr element : body[v].content) own.push_back(*symbol_of_element(element));
  Type t = body.type(body.outputs()[output].value);
  for (Dim& d : t.shape) {
    bool is_own = false;
    visit(std::vector{d.extent()}, [&](Expr e) { is_own |= std::ranges::find(own, e) != own.end(); });
    if (is_own) d = n.fresh(d.upper());
  }
  return t;
}

/// Whether an extent is made of more than these inputs give a body.
inline bool is_computed(const Graph& body, std::span<const ValueId> inputs, const Dim& d) {
  std::vector<Expr> given;
  for (ValueId v : inputs) {
    for (const Dim& of_input : body.type(v).shape) given.push_back(of_input.extent());
    given.insert(given.end(), body[v].content.begin(), body[v].content.end());
  }
  std::vector<Expr> symbols;
  visit(given, [&](Expr e) {
    if (e.op() == Op::Symbol) symbols.push_back(e);
  });
  bool computed = false;
  visit(std::vector{d.extent()},
        [&](Expr e) { computed |= e.op() == Op::Symbol && std::ranges::find(symbols, e) == symbols.end(); });
  return computed;
}

}  // namespace cameo::ops
