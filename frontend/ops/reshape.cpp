// Reshape: a View. 0 keeps the dim in its place (unless `allowzero`), -1 is what remains; symbolic dims cancel exactly.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

/// The factors of a product of dims: numbers multiplied up, everything else listed.
struct Factors {
  Dim whole = 1;
  std::vector<Expr> others;
  int64_t number() const { return whole.value(); }
  void take(Expr e) {
    if (e.is_const()) {
      whole = whole * Dim(e);
    } else if (e.op() == Op::Mul) {
      take(e.arg(0));
      take(e.arg(1));
    } else {
      others.push_back(e);
    }
  }
};

/// product(shape) / product(parts), with common factors cancelled.
Expr remaining(const NodeView& n, const Shape& shape, const Shape& parts) {
  Factors all, used;
  for (const Dim& d : shape) all.take(d.extent());
  for (const Dim& d : parts) used.take(d.extent());
  std::vector<Expr> divisors;
  for (Expr e : used.others) {
    auto it = std::ranges::find(all.others, e);
    if (it == all.others.end())
      divisors.push_back(e);
    else
      all.others.erase(it);
  }
  bool exact = used.number() != 0 && all.number() % used.number() == 0;
  if (used.number() == 0 || (!exact && all.others.empty() && divisors.empty()))
    n.fail(Code::E0302,
           "a tensor of shape " + to_string(shape) + " does not reshape to " + to_string(parts) + " and -1");
  Expr quotient = integer(exact ? all.number() / used.number() : all.number());
  for (Expr e : all.others) quotient = quotient * e;
  Expr divisor = integer(exact ? 1 : used.number());
  for (Expr e : divisors) divisor = divisor * e;
  return floor_div(quotient, divisor);
}

/// A dim of a shape that only a run knows: 0 copies one, and -1 is what remains beside `others`.
Dim dim_of_run(const NodeView& n, const std::vector<Expr>& written, size_t place) {
  const Expr e = written[place], copied = integer(0), inferred = integer(-1);
  const auto own = [&](size_t i) {
    const Expr whole = i < n.shape().size() ? n.shape()[i].extent() : integer(0);
    return n.attr_int("allowzero") ? written[i] : select(eq(written[i], copied), whole, written[i]);
  };
  Expr others = integer(1);
  for (size_t i = 0; i < written.size(); ++i)
    if (i != place) others = others * max(own(i), integer(1));
  const Expr remains = floor_div(product(n.shape()).extent(), others);
  return given_dim(n, select(eq(e, inferred), remains, own(place)), written.size(), "shape");
}

Dim written_dim(const NodeView& n, const std::vector<Expr>& written, int place) {
  const Expr e = written[place];
  if (!e.is_const()) return is_any(e) ? dim_of_run(n, written, place) : dim_of(e);
  if (e.int_value() < 0) n.fail(Code::E0304, "a dim of " + to_string(e) + " in `shape`");
  if (e.int_value() > 0 || n.attr_int("allowzero")) return Dim(e.int_value());
  if (place >= n.rank())
    n.fail(Code::E0302,
           "0 at place " + std::to_string(place) + " of `shape` copies a dim that the input does not have");
  return n.shape()[place];
}

/// An input from version 5 on, an attribute before.
std::vector<Expr> written_shape(const NodeView& n) {
  if (n.version() >= 5 && !n.has(1)) n.fail(Code::E0203, "`Reshape` has no `shape`");
  if (n.has(1)) return elements(n, 1);
  std::vector<Expr> written;
  for (int64_t d : n.attr_ints("shape")) written.push_back(integer(d));
  return written;
}

Shape target_shape(const NodeView& n) {
  std::vector<Expr> written = written_shape(n);
  Shape out, known;
  int inferred = -1;
  for (int i = 0; i < static_cast<int>(written.size()); ++i) {
    if (written[i].is_const(-1)) {
      if (inferred >= 0) n.fail(Code::E0304, "`shape` has -1 more than once");
      inferred = i;
      out.push_back(1);
    } else {
      out.push_back(written_dim(n, written, i));
      known.push_back(out.back());
    }
  }
  if (inferred >= 0) out[inferred] = dim_of(remaining(n, n.shape(), known));
  return out;
}

void infer_reshape(Infer& n) {
  Shape out = target_shape(n);
  Dim before = product(n.shape()), after = product(out);
  if (!n.agree(before, after))
    n.fail(Code::E0302, "a tensor of shape " + to_string(n.shape()) + " does not reshape to " + to_string(out));
  n.output(0, n.dtype(), out);
}

}  // namespace

Operator declare_reshape() {
  return {.name = "Reshape",
          .since = {1, 5, 13, 14, 19, 21, 23, 24, 25},
          .inputs = {{"data"}, {"shape", kInt64, InputSpec::Optional}},
          .outputs = {{"reshaped"}},
          .attributes = {{"allowzero", 0, 14}, {"shape", AttrKind::Ints}},
          .infer = infer_reshape,
          .meaning = [](const MeaningView&) -> Meaning { return View{0}; }};
}

}  // namespace cameo::ops
