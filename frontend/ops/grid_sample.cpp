// GridSample: X read at positions that the grid holds, its last axis naming the spatial axes from the last to the
// first. Each tap's index is brought inside (border, reflection) or reads zero; the taps of an axis are weighed inside
// of the next.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_grid_sample(Infer& n) {
  int r = n.rank() - 2;
  if (r < 1 || n.rank(1) != r + 2 || !n.agree(n.dim(1, -1), r))
    n.fail(Code::E0302, fmt::format("X is {} and grid is {}", to_string(n.type(0)), to_string(n.type(1))));
  std::string mode = n.attr_string("mode");
  check_neighbours(n, mode == "nearest" ? 1 : mode.ends_with("cubic") ? 4 : 2, static_cast<size_t>(r));
  Shape s{same_dim(n, n.shape()[0], n.shape(1)[0], "batches of X and `grid`"), n.shape()[1]};
  s.insert(s.end(), n.shape(1).begin() + 1, n.shape(1).end() - 1);
  const Expr made = product(s).extent(), data = product(n.shape(), 2).extent();
  const bool pads = n.attr_string("padding_mode") == "zeros";
  if (!pads && !n.may_hold(logical_or(lt(integer(0), data), eq(made, integer(0)))))
    n.fail(Code::E0302, fmt::format("X is {}: no element is nearest to a position", to_string(n.type(0))));
  n.output(0, n.dtype(), s);
}

class Sampler {
 public:
  explicit Sampler(const MeaningView& n)
      : n_(n),
        mode_(n.attr_string("mode")),
        padding_(n.attr_string("padding_mode")),
        corners_(n.attr_int("align_corners")),
        type_(n.dtype(0) == DType::f64 || n.dtype(1) == DType::f64 ? DType::f64 : DType::f32) {
    if (mode_ == "bilinear") mode_ = "linear";
    if (mode_ == "bicubic") mode_ = "cubic";
    auto check = [&](std::string_view what, std::string_view v, std::initializer_list<std::string_view> known) {
      if (std::find(known.begin(), known.end(), v) == known.end())
        n.fail(Code::E0204, fmt::format("`{}` is `{}`", what, printable(v)));
    };
    check("mode", mode_, {"linear", "nearest", "cubic"});
    check("padding_mode", padding_, {"zeros", "border", "reflection"});
  }

  Meaning meaning() {
    out_ = n_.index();
    at_ = {out_[0], out_[1]};
    at_.resize(n_.rank());
    Expr y = value(2);
    return Compute{{{out_, cast(y, n_.dtype())}}};
  }

 private:
  Expr value(int axis) {
    if (axis == n_.rank()) return mode_ == "nearest" ? n_.load(0, at_) : cast(n_.load(0, at_), type_);
    Expr x = position(axis);
    if (mode_ == "nearest") return tap(axis, cast(round(x), DType::i64));
    Expr below = floor(x), f = x - below, index = cast(below, DType::i64);
    if (mode_ == "linear") return tap(axis, index) * (1. - f) + tap(axis, index + integer(1)) * f;
    Expr sum = tap(axis, index - integer(1)) * far(f + 1.);
    sum = sum + tap(axis, index) * near(f);
    sum = sum + tap(axis, index + integer(1)) * near(1. - f);
    return sum + tap(axis, index + integer(2)) * far(2. - f);
  }
  /// The grid's number in [-1, 1] as a position along `axis`.
  Expr position(int axis) const {
    std::vector<Expr> at{out_[0]};
    at.insert(at.end(), out_.begin() + 2, out_.end());
    at.push_back(integer(n_.rank() - 1 - axis));
    Expr g = cast(n_.load(1, at), type_), length = cast(n_.shape()[axis].extent(), type_);
    return corners_ ? (g + 1.) / 2. * (length - 1.) : ((g + 1.) * length - 1.) / 2.;
  }
  Expr tap(int axis, Expr index) {
    Expr length = n_.shape()[axis].extent(), last = length - integer(1);
    if (padding_ == "border") index = min(max(index, integer(0)), last);
    if (padding_ == "reflection") {
      Expr period = (corners_ ? last : length) * integer(2);
      Expr m = mod(index, period);
      index = select(le(m, last), m, corners_ ? period - m : period - integer(1) - m);
    }
    at_[axis] = index;
    return value(axis + 1);
  }
  static constexpr double kA = -0.75;
  static Expr near(Expr d) { return (d * (kA + 2) - (kA + 3)) * d * d + 1.; }
  static Expr far(Expr d) { return ((d * kA - 5 * kA) * d + 8 * kA) * d - 4 * kA; }

  const MeaningView& n_;
  std::string mode_, padding_;
  bool corners_;
  DType type_;
  std::vector<Expr> out_, at_;
};

Meaning grid_sample(const MeaningView& n) { return Sampler(n).meaning(); }

}  // namespace

Operator declare_grid_sample() {
  return {.name = "GridSample",
          .since = {16, 20, 22},
          .inputs = {{"X", kNumbers | kBool | kComplex}, {"grid", kFloats}},
          .attributes = {{"align_corners", 0}, {"mode", "linear"}, {"padding_mode", "zeros"}},
          .infer = infer_grid_sample,
          .meaning = grid_sample};
}

}  // namespace cameo::ops
