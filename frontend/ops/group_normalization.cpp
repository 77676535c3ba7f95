// GroupNormalization: groups of channels to mean 0 and variance 1; scale and bias are one a group in version 18, one a
// channel since 21.
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

void infer_group_normalization(Infer& n) {
  int64_t groups = n.attr_int("num_groups");
  if (n.rank() < 3) n.fail(Code::E0302, fmt::format("X is {}, it needs N, C and spatial axes", to_string(n.type(0))));
  Dim c = n.shape()[1];
  if (groups < 1 || !n.divides(groups, c))
    n.fail(Code::E0302, fmt::format("{} channels do not divide into {} groups", to_string(c), groups));
  Dim wanted = n.version() < 21 ? Dim(groups) : c;
  for (int i = 1; i < 3; ++i)
    if (n.rank(i) != 1 || !n.agree(n.shape(i)[0], wanted))
      n.fail(Code::E0302, fmt::format("`{}` is {}, it must have {} elements", n.node().op->inputs[i].name,
                                      to_string(n.type(i)), to_string(wanted)));
  n.output(0, n.type(0));
}

Meaning group_normalization(const MeaningView& n) {
  Build b(n);
  ValueId shape = b.op("Shape", {b.in(0)});
  DType stash = n.version() < 21 ? accumulator(n.dtype()) : stash_type(n);
  ValueId x = b.reshape(b.cast(b.in(0), stash), {0, n.attr_int("num_groups"), -1});
  ValueId y = b.cast(standardize(b, x, {2}, n.attr_float("epsilon")).y, n.dtype());
  auto shifted = [&](ValueId v, int rank) {
    return b.add(b.mul(v, per_channel(b, b.in(1), rank)), per_channel(b, b.in(2), rank));
  };
  if (n.version() < 21) return b.outputs({b.op("Reshape", {shifted(y, 3), shape})});
  return b.outputs({shifted(b.op("Reshape", {y, shape}), n.rank())});
}

}  // namespace

Operator declare_group_normalization() {
  return {
      .name = "GroupNormalization",
      .since = {18, 21},
      .inputs = {{"X", kFloats}, {"scale", kFloats, InputSpec::Required, 0}, {"bias", kFloats, InputSpec::Required, 0}},
      .attributes = {{"epsilon", 1e-5f}, {"num_groups", AttrKind::Int}, {"stash_type", 1, 21}},
      .infer = infer_group_normalization,
      .meaning = group_normalization};
}

}  // namespace cameo::ops
