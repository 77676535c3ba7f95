// Split: windows along an axis. Their sizes are an input, an attribute, or as equal as the number of outputs allows.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

/// As equal as `count` parts can be.
std::vector<Dim> equal_parts(const NodeView& n, Dim whole, int64_t count) {
  if (n.version() < 18 && !n.divides(count, whole))
    n.fail(Code::E0302, to_string(whole) + " does not split into " + std::to_string(count) + " equal parts");
  const Dim even = whole / Dim(count);
  std::vector<Dim> parts(static_cast<size_t>(count), even);
  if (even * Dim(count) == whole || n.version() < 18) return parts;
  const Dim part = (whole + Dim(count - 1)) / Dim(count);
  for (size_t i = 0; i < parts.size(); ++i) {  // the last part is smaller; with many parts, the last ones may be empty
    const Expr left = (whole - Dim(static_cast<int64_t>(i)) * part).extent();
    parts[i] = dim_of(max(min(left, part.extent()), integer(0)));
  }
  return parts;
}

/// Each part is an output, also where nothing reads it.
void check_count(const NodeView& n, int64_t parts, int64_t outputs) {
  if (parts != outputs)
    n.fail(Code::E0203, "`Split` has " + std::to_string(outputs) + " outputs for " + std::to_string(parts) + " parts");
}

constexpr int64_t kMostSplits = 1 << 16;

std::vector<Dim> parts_of(const NodeView& n, int outputs) {
  Dim whole = n.dim(0, static_cast<int>(n.attr_int("axis")));
  const bool sizes_given = n.has(1) || n.has_attr("split"), count_given = n.has_attr("num_outputs");
  if (sizes_given && count_given)
    n.fail(Code::E0203, "`Split` has both `split` and `num_outputs`", "with --lenient `split` counts");
  if (count_given) check_count(n, count_attr(n, "num_outputs"), outputs);
  if (!sizes_given) return equal_parts(n, whole, outputs);
  std::vector<Dim> parts;
  Dim sum = 0;
  std::vector<Expr> sizes;
  if (n.has(1) && is_float(n.dtype(1)))  // of version 1
    for (double s : n.floats(1)) sizes.push_back(integer(static_cast<int64_t>(s)));
  else if (n.has(1))
    sizes = elements(n, 1, kMostSplits);
  else
    for (int64_t s : n.attr_ints("split")) sizes.push_back(integer(s));
  check_count(n, static_cast<int64_t>(sizes.size()), outputs);
  for (Expr s : sizes) {
    parts.push_back(is_any(s) ? dim_of(max(min(s, whole.extent()), integer(0))) : dim_of(s));
    sum = sum + dim_of(s);
    if (!s.is_const()) n.require(le(integer(0), s));
    if (s.is_const() && s.int_value() < 0) n.fail(Code::E0304, "a part of size " + to_string(s));
  }
  if (!n.agree(sum, whole))
    n.fail(Code::E0302, "parts that sum to " + to_string(sum) + " of an axis of " + to_string(whole));
  return parts;
}

void infer_split(Infer& n) {
  int outputs = static_cast<int>(n.types.size()), axis = NodeView::axis(n.attr_int("axis"), n.rank());
  std::vector<Dim> parts = parts_of(n, outputs);
  for (int i = 0; i < outputs; ++i) {
    Shape out = n.shape();
    out[axis] = parts[i];
    n.output(i, n.dtype(), out);
  }
}

Meaning split_meaning(const MeaningView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  Compute windows;
  Dim begin = 0;
  for (int i = 0; i < n.output_count(); ++i) {
    OutputExpr out{n.index(i), {}};
    std::vector<Expr> at = out.index;
    at[axis] = at[axis] + begin.extent();
    out.value = n.load(0, at);
    windows.outputs.push_back(out);
    begin = begin + n.out_shape(i)[axis];
  }
  return windows;
}

}  // namespace

Operator declare_split() {
  return {.name = "Split",
          .since = {1, 2, 11, 13, 18},
          .inputs = {{"input"}, {"split", kInt64 | kFloats, InputSpec::Optional}},
          .outputs = {{"outputs", OutputSpec::Variadic}},
          .attributes = {{"axis", 0}, {"split", AttrKind::Ints}, {"num_outputs", AttrKind::Int, 18}},
          .infer = infer_split,
          .meaning = split_meaning};
}

}  // namespace cameo::ops
