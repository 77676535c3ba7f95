// DeformConv: a convolution each tap of which reads X at an offset of its own, interpolated between neighbours, and may
// weigh it by a mask. What lies outside of X is zero.
#include "frontend/ops/conv.h"
#include "frontend/ops/flat.h"

namespace cameo::ops {
namespace {

void infer_deform_conv(Infer& n) {
  Convolution c = convolution(n, 1);
  Shape s = convolved_shape(n, c, 3);
  check_neighbours(n, 2, c.window.size());
  int64_t groups = count_attr(n, "offset_group");
  Dim weights = groups;
  for (const WindowAxis& w : c.window) weights = weights * Dim(w.kernel);
  Shape sampled = s;
  sampled[1] = weights * Dim(static_cast<int64_t>(c.window.size()));
  check_shape(n, 2, sampled, "an offset for each tap and axis of every output position");
  sampled[1] = weights;
  check_shape(n, 4, sampled, "a weight for each tap of every output position");
  n.output(0, n.dtype(), s);
}

class Sampled {
 public:
  Sampled(const MeaningView& n, const Convolution& c, std::vector<Expr> out, std::vector<Expr> taps, Expr channel)
      : n_(n), c_(c), out_(std::move(out)), taps_(std::move(taps)), channel_(channel), type_(accumulator(n.dtype())) {
    Dim per_group = n.shape(0)[1] / Dim(n.attr_int("offset_group"));
    Expr group = n.attr_int("offset_group") == 1 ? integer(0) : floor_div(channel, per_group.extent());
    tap_ = group;
    for (size_t a = 0; a < taps_.size(); ++a) tap_ = tap_ * integer(c.window[a].kernel) + taps_[a];
  }

  /// X of the channel at this tap's position, times its mask.
  Expr value() {
    at_ = {out_[0], channel_};
    Expr x = interpolated(0);
    return n_.has(4) ? x * cast(n_.load(4, parameter(tap_)), type_) : x;
  }

 private:
  std::vector<Expr> parameter(Expr channel) const {
    std::vector<Expr> at{out_[0], channel};
    at.insert(at.end(), out_.begin() + 2, out_.end());
    return at;
  }
  Expr interpolated(size_t axis) {
    if (axis == taps_.size()) return cast(n_.load(0, at_), type_);
    Expr which = tap_ * integer(static_cast<int64_t>(taps_.size())) + integer(static_cast<int64_t>(axis));
    Expr whole = c_.window[axis].at(out_[2 + axis], taps_[axis]);
    Expr x = cast(n_.load(2, parameter(which)), type_), below = floor(x), f = x - below;
    Expr index = whole + cast(below, DType::i64);
    at_.resize(2 + axis);
    at_.push_back(index);
    Expr low = interpolated(axis + 1);
    at_.resize(2 + axis);
    at_.push_back(index + integer(1));
    return low * (1. - f) + interpolated(axis + 1) * f;
  }

  const MeaningView& n_;
  const Convolution& c_;
  std::vector<Expr> out_, taps_, at_;
  Expr channel_, tap_;
  DType type_;
};

Meaning deform_conv(const MeaningView& n) {
  Convolution c = convolution(n, 1);
  DType t = accumulator(n.dtype());
  auto out = n.index(), taps = taps_of(c.window);
  Expr channel = var(c.channels.extent());
  Expr of_group = floor_div(out[1], (c.maps / Dim(c.group)).extent());
  Expr of_x = c.group == 1 ? channel : of_group * c.channels.extent() + channel;
  std::vector<Expr> at{out[1], channel};
  at.insert(at.end(), taps.begin(), taps.end());
  Expr product = Sampled(n, c, out, taps, of_x).value() * cast(n.load(1, at), t);
  Expr y = fold(FoldKind::Sum, channel, fold_all(FoldKind::Sum, taps, product));
  if (n.has(3)) y = y + cast(n.load(3, {out[1]}), t);
  return Compute{{{out, cast(y, n.dtype())}}};
}

}  // namespace

Operator declare_deform_conv() {
  return {.name = "DeformConv",
          .since = {19, 22},
          .inputs = {{"X", kFloats},
                     {"W", kFloats, InputSpec::Required, 0},
                     {"offset", kFloats, InputSpec::Required, 0},
                     {"B", kFloats, InputSpec::Optional, 0},
                     {"mask", kFloats, InputSpec::Optional, 0}},
          .attributes = {{"auto_pad", "NOTSET"},
                         {"dilations", AttrKind::Ints},
                         {"group", 1},
                         {"kernel_shape", AttrKind::Ints},
                         {"offset_group", 1},
                         {"pads", AttrKind::Ints},
                         {"strides", AttrKind::Ints}},
          .infer = infer_deform_conv,
          .meaning = deform_conv};
}

}  // namespace cameo::ops
