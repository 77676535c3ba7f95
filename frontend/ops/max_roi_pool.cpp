// MaxRoiPool: each region, rounded to whole elements, is cut into bins; a bin gives its maximum, an empty one zero.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_max_roi_pool(Infer& n) {
  auto pooled = n.attr_ints("pooled_shape");
  if (n.rank(0) != 4 || n.rank(1) != 2 || pooled.size() != 2 || !n.agree(n.shape(1)[1], 5))
    n.fail(Code::E0302, fmt::format("X is {} and rois {}", to_string(n.type(0)), to_string(n.type(1))));
  if (const Dim& rois = n.shape(1)[0];
      !n.may_hold(logical_or(lt(integer(0), n.shape(0)[0].extent()), eq(rois.extent(), integer(0)))))
    n.fail(Code::E0304, fmt::format("{} regions of no image", to_string(rois)));
  n.output(0, n.dtype(), {n.shape(1)[0], n.shape(0)[1], pooled[0], pooled[1]});
}

struct Bin {
  Expr begin, end;
};
Expr round_away(Expr x) { return select(lt(x, like(x, 0)), ceil(x - 0.5), floor(x + 0.5)); }

/// Bin `o` of `bins` along an axis of the input, for a region from column `from` to column `to` of the roi.
Bin bin(const MeaningView& n, int axis, Expr roi, int from, int to, Expr o, int64_t bins) {
  auto corner = [&](int column) {
    return cast(round_away(cast(n.load(1, {roi, integer(column)}), DType::f32) * n.attr_float("spatial_scale")),
                DType::i64);
  };
  Expr start = corner(from), length = n.shape()[axis].extent();
  Expr size = cast(max(corner(to) - start + integer(1), integer(1)), DType::f32) / static_cast<double>(bins);
  auto clip = [&](Expr x) { return min(max(cast(x, DType::i64) + start, integer(0)), length); };
  return {clip(floor(cast(o, DType::f32) * size)), clip(ceil(cast(o + integer(1), DType::f32) * size))};
}

Meaning max_roi_pool(const MeaningView& n) {
  auto out = n.index();
  auto pooled = n.attr_ints("pooled_shape");
  Expr image = cast(n.load(1, {out[0], integer(0)}), DType::i64);
  Bin y = bin(n, 2, out[0], 2, 4, out[2], pooled[0]), x = bin(n, 3, out[0], 1, 3, out[3], pooled[1]);
  Expr r = var(n.shape()[2].extent()), c = var(n.shape()[3].extent());
  Expr in_bin = logical_and(logical_and(le(y.begin, r), lt(r, y.end)), logical_and(le(x.begin, c), lt(c, x.end)));
  Expr value = select(in_bin, n.load_checked(0, std::vector<Expr>{image, out[1], r, c}), lowest(n.dtype()));
  Expr best = fold(FoldKind::Max, r, fold(FoldKind::Max, c, value));
  Expr empty = logical_or(le(y.end, y.begin), le(x.end, x.begin));
  return Compute{{{out, select(empty, zero(n.dtype()), best)}}};
}

}  // namespace

Operator declare_max_roi_pool() {
  return {.name = "MaxRoiPool",
          .since = {1, 22},
          .inputs = {{"X", kFloats}, {"rois", kFloats, InputSpec::Required, 0}},
          .attributes = {{"pooled_shape", AttrKind::Ints}, {"spatial_scale", 1.f}},
          .infer = infer_max_roi_pool,
          .meaning = max_roi_pool};
}

}  // namespace cameo::ops
