// RoiAlign: each bin of a region is sampled on a grid of points, each interpolated from its four neighbours, and gives
// their mean or, as onnxruntime has it, the maximum of the weighed neighbours. With sampling_ratio 0 the region decides
// how many.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_roi_align(Infer& n) {
  if (n.rank(0) != 4 || n.rank(1) != 2 || n.rank(2) != 1 || !n.agree(n.shape(1)[1], 4))
    n.fail(Code::E0302, fmt::format("X is {}, rois {} and batch_indices {}", to_string(n.type(0)), to_string(n.type(1)),
                                    to_string(n.type(2))));
  same_dim(n, n.shape(1)[0], n.shape(2)[0], "regions and `batch_indices`");
  check_indices(n, 2, n.shape(0)[0]);
  n.output(0, n.dtype(), {n.shape(1)[0], n.shape(0)[1], n.attr_int("output_height"), n.attr_int("output_width")});
}

/// The grid points of one output position along one axis.
struct Points {
  Expr point;  // the Var over them
  Expr count;
  Expr low, high;  // neighbours
  Expr low_weight, high_weight;
};

class RoiAlign {
 public:
  explicit RoiAlign(const MeaningView& n)
      : n_(n),
        out_(n.index()),
        type_(accumulator(n.dtype())),
        half_pixel_(n.version() >= 16 && n.attr_string("coordinate_transformation_mode") == "half_pixel") {}

  Meaning meaning() {
    Points y = points(2, 1, n_.attr_int("output_height")), x = points(3, 0, n_.attr_int("output_width"));
    bool mean = n_.attr_string("mode") != "max";
    Expr corners[] = {
        value(y.low, x.low) * (y.low_weight * x.low_weight), value(y.low, x.high) * (y.low_weight * x.high_weight),
        value(y.high, x.low) * (y.high_weight * x.low_weight), value(y.high, x.high) * (y.high_weight * x.high_weight)};
    Expr sample = corners[0];
    for (int i = 1; i < 4; ++i) sample = mean ? sample + corners[i] : max(sample, corners[i]);
    FoldKind kind = mean ? FoldKind::Sum : FoldKind::Max;
    Expr all = fold(kind, y.point, fold(kind, x.point, sample));
    Expr count = max(y.count * x.count, integer(1));
    Expr result = mean ? all / cast(count, type_) : select(lt(integer(0), y.count * x.count), all, zero(type_));
    return Compute{{{out_, cast(result, n_.dtype())}}};
  }

 private:
  Expr value(Expr r, Expr c) const {
    Expr image = n_.load(2, {out_[0]});
    return cast(n_.load(0, {image, out_[1], r, c}), type_);
  }
  Points points(int axis, int column, int64_t bins) const {
    double scale = n_.attr_float("spatial_scale"), shift = half_pixel_ ? 0.5 : 0;
    Expr begin = cast(n_.load(1, {out_[0], integer(column)}), type_) * scale - shift;
    Expr end = cast(n_.load(1, {out_[0], integer(column + 2)}), type_) * scale - shift;
    Expr size = end - begin;
    if (!half_pixel_) size = max(size, like(size, 1));  // at least one element in the old mode
    Expr bin = size / static_cast<double>(bins);
    int64_t ratio = n_.attr_int("sampling_ratio");
    Points p;
    p.count = ratio > 0 ? integer(ratio) : max(cast(ceil(bin), DType::i64), integer(0));
    p.point = var(p.count);
    Expr at = begin + cast(out_[axis], type_) * bin + (cast(p.point, type_) + 0.5) * bin / cast(p.count, type_);
    Expr length = cast(n_.shape()[axis].extent(), type_), last = length - 1.;
    Expr off = logical_or(lt(at, like(at, -1)), lt(length, at));
    Expr inner = min(max(at, like(at, 0)), last), below = floor(inner);
    p.low = cast(below, DType::i64);
    p.high = min(p.low + integer(1), n_.shape()[axis].extent() - integer(1));
    p.high_weight = select(off, like(at, 0), inner - below);
    p.low_weight = select(off, like(at, 0), 1. - (inner - below));
    return p;
  }

  const MeaningView& n_;
  std::vector<Expr> out_;
  DType type_;
  bool half_pixel_;
};

Meaning roi_align(const MeaningView& n) { return RoiAlign(n).meaning(); }

}  // namespace

Operator declare_roi_align() {
  return {.name = "RoiAlign",
          .since = {10, 16, 22},
          .inputs = {{"X", kFloats}, {"rois", kFloats, InputSpec::Required, 0}, {"batch_indices", kInt64}},
          .attributes = {{"coordinate_transformation_mode", "half_pixel", 16},
                         {"mode", "avg"},
                         {"output_height", 1},
                         {"output_width", 1},
                         {"sampling_ratio", 0},
                         {"spatial_scale", 1.f}},
          .infer = infer_roi_align,
          .meaning = roi_align};
}

}  // namespace cameo::ops
